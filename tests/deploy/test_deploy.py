"""Installation on a Raspberry Pi: the systemd unit, the udev rule, the script, and the first settings."""

import re
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest

from companion.commands.options.settings import file_settings

DEPLOY = Path(__file__).parents[2] / "deploy"
UNIT = DEPLOY / "stacking-games-referee.service"
SCRIPT = DEPLOY / "install-pi.sh"


@pytest.fixture
def unit() -> ConfigParser:
    """Return the parsed systemd unit."""
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read_string(UNIT.read_text(encoding="utf-8"))
    return parser


def test_systemd_finds_no_fault_with_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not here")
    copy = tmp_path / UNIT.name
    text = UNIT.read_text(encoding="utf-8")
    copy.write_text(re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", text), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if UNIT.name in line]) == (0, [])


def test_the_unit_runs_what_the_script_installs(unit: ConfigParser) -> None:
    program, command, settings = unit["Service"]["ExecStart"].split()
    script = SCRIPT.read_text(encoding="utf-8")
    home, config = (re.search(rf"^{name}=(.*)$", script, re.MULTILINE)[1] for name in ("HOME_DIR", "CONFIG"))
    assert program == f"{home.replace('$NAME', UNIT.stem)}/bin/companion"
    assert (command, settings) == ("referee", f"{config.replace('$NAME', UNIT.stem)}/table.toml")
    assert unit["Service"]["WorkingDirectory"] == f"/var/lib/{unit['Service']['StateDirectory']}"


def test_a_table_that_hangs_or_fails_is_started_again_and_goes_on(unit: ConfigParser) -> None:
    service = unit["Service"]
    assert (service["Type"], service["Restart"], int(service["WatchdogSec"])) == ("notify", "always", 10)
    _, options = file_settings(DEPLOY / "table.toml")
    assert options.play.resume
    assert options.output.json


def test_the_first_settings_name_files_beside_them() -> None:
    settings, options = file_settings(DEPLOY / "table.toml")
    assert options.source.camera == (DEPLOY / "camera.toml",)
    assert (options.output.station.panel, options.output.station.voice) == ("gpio", True)
    assert settings.pins is None


@pytest.mark.parametrize("checker", [("sh", "-n"), ("shellcheck",)])
def test_the_script_is_sound(checker: tuple[str, ...]) -> None:
    if shutil.which(checker[0]) is None:
        pytest.skip(f"{checker[0]} is not here")
    done = subprocess.run([*checker, str(SCRIPT)], capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == ""


def test_the_rule_is_one_line_for_the_pico() -> None:
    text = (DEPLOY / "60-stacking-games-referee.rules").read_text(encoding="utf-8")
    (rule,) = [line for line in text.splitlines() if line and not line.startswith("#")]
    parts = [part.strip() for part in rule.split(",")]
    assert all(re.fullmatch(r'[A-Z]+(\{\w+\})?(==|=|\+=|!=)"[^"]*"', part) for part in parts)
    assert 'ENV{ID_MM_DEVICE_IGNORE}="1"' in parts
