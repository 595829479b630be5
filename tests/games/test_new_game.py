"""A new game added by a user, with an empty board at the start: a file of rules, one of words, and a kit.

The files lie in ``tests/data/tak`` and are put into a temporary folder, like a user's files beside the included games.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import companion.games
from calibration import kit
from companion import phrases
from companion.cli import main
from companion.commands.demo import shown_games
from tools import soak_readings

pytestmark = pytest.mark.pictures

ROOT = Path(__file__).parents[2]
FILES = ROOT / "tests" / "data" / "tak"
CACHES = (companion.games.available_games, companion.games.load_game, companion.games.translation)
EMPTY = "tak 4/4/4/4 W"
LATER = "tak 4/1,WK,2/4/W,3 W"
PLUGIN = "from companion import games\ngames.__path__.append({!r})\n"


def forget() -> None:
    """Clear the caches of the folder of games, so that it is searched again."""
    sys.modules.pop("companion.games.tak", None)
    for cache in CACHES:
        cache.cache_clear()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of the new game, which is searched beside the others."""
    games, kits = tmp_path / "games", tmp_path / "kits"
    games.mkdir()
    shutil.copytree(kit.KITS, kits)
    for file in ("tak.py", "tak.de.toml"):
        shutil.copy(FILES / file, games)
    shutil.copy(FILES / "tak.toml", kits)
    monkeypatch.setattr(kit, "KITS", kits)
    monkeypatch.setattr(companion.games, "__path__", [*companion.games.__path__, str(games)])
    forget()
    yield games
    monkeypatch.undo()
    forget()


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[str]:
    """Run a command and return the lines that it prints."""
    assert main(list(words)) == code
    return capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("folder")
def test_every_command_of_rules_knows_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert any(line.startswith("tak ") and "kit tak" in line for line in answer(capsys, "games"))
    assert answer(capsys, "start", "tak") == [EMPTY]
    assert len(answer(capsys, "legal", EMPTY)) == 16
    assert answer(capsys, "check", EMPTY, "*b2") == ["legal"]
    assert answer(capsys, "check", LATER, "*b3", code=1) == ["TAK-1: a stone is put on an empty square; b3 is taken."]
    assert answer(capsys, "play", EMPTY, "*b2", "*b3", "b2-b3") == ["tak 4/1,KW,2/4/4 K"]
    assert answer(capsys, "perft", EMPTY, "2") == ["240"]
    assert answer(capsys, "show", LATER, "--svg", str(tmp_path / "board.svg"))[1] == " 3 .  WK .  ."
    assert "<svg" in (tmp_path / "board.svg").read_text(encoding="utf-8")
    assert answer(capsys, "games", "--pages", str(tmp_path))
    assert "**TAK-3 Road.**" in (tmp_path / "tak.md").read_text(encoding="utf-8")
    assert answer(capsys, "mat", "tak", "-o", str(tmp_path / "mat.pdf")) is not None


@pytest.mark.usefixtures("folder")
def test_it_is_said_in_german_without_a_word_of_it_in_the_languages() -> None:
    german = phrases.language("de", companion.games.load_game("tak"))
    assert german.players["K"] == "Kohle"
    assert german.rules["TAK-1"] == "Ein Stein kommt auf ein leeres Feld"


@pytest.mark.usefixtures("folder")
def test_simulated_matches_of_it_are_refereed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "tak" in shown_games()
    assert soak_readings.main(["tak", "--matches", "2", "--acts", "20", "--reader", "good"]) == 0
    assert " 0 (0.0-" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_it_is_shown_by_the_demonstration(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ("demo", "tak", "--fast", "--plies", "3", "--panel", "none", "--match", str(tmp_path / "demo.db"))
    assert "accepted as played, 0 lost; 0 accepted that were not played" in "\n".join(answer(capsys, *words))


@pytest.mark.slow
def test_the_contract_tests_hold_for_it(folder: Path) -> None:
    (folder.parent / "new_game.py").write_text(PLUGIN.format(str(folder)), encoding="utf-8")
    tests = [str(ROOT / "tests" / "rules" / f"test_{name}.py") for name in ("contract", "drawing", "random_play")]
    words = [sys.executable, "-m", "pytest", "-p", "new_game", "-p", "no:cacheprovider", "-k", "tak", *tests]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder.parent), str(ROOT)))}
    run = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert " skipped" not in run.stdout
