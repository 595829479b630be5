"""`companion doctor` on pictures and recordings."""

import http.client
import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import cv2
import numpy as np
import pytest

from companion.cli import main
from companion.doctor.finding import CAMERAS, CONTROLLERS

pytestmark = pytest.mark.pictures


@pytest.fixture(autouse=True)
def _own_store(tmp_path, monkeypatch):
    """Give the store a folder of its own."""
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))


def doctor(*words):
    return main([str(word) for word in ("doctor", *words)])


def rows(capsys):
    """Return the printed JSON rows by the name of the check."""
    return {row["check"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}


def test_all_is_well_with_the_example_recording(examples, tmp_path, capsys):
    overlay = tmp_path / "overlay.jpg"
    assert doctor("domination", "--recording", examples / "domination-1", "--overlay", overlay, "--json") == 0
    found = rows(capsys)
    assert {name: row["state"] for name, row in found.items()} == {
        **dict.fromkeys(("camera", "lens", "markers", "room", "light", "focus", "overlay", "clock", "disk"), "ok"),
        **dict.fromkeys(("serial", "panel", "sound"), "unused"),
    }
    assert all((row["do"] is None) == (row["state"] != "fault") for row in found.values())
    assert cv2.imread(str(overlay)).shape == (720, 1280, 3)


def test_a_fault_says_what_to_do_and_fails(examples, tmp_path, capsys):
    photo = cv2.imread(str(examples / "photos" / "domination-b-103.jpg"))
    dark = tmp_path / "dark.png"
    cv2.imwrite(str(dark), photo // 40)
    camera = examples / "photos" / "camera.toml"
    assert doctor("domination", "--image", dark, "--camera", camera) == 1
    faults = [line for line in capsys.readouterr().out.splitlines() if line.startswith("FAULT")]
    assert any("switch a lamp on" in line for line in faults)


def test_it_takes_the_settings_of_the_table(examples, tmp_path, capsys):
    table = tmp_path / "table.toml"
    text = f'game = "domination"\nrecording = "{examples / "domination-1"}"\npanel = "gpio"\nvoice = true\n'
    table.write_text(text, encoding="utf-8")
    assert doctor(table, "--json") == 1
    found = rows(capsys)
    assert found["markers"]["state"] == "ok"
    assert found["panel"]["found"] == "this machine has no GPIO pins"
    assert found["sound"]["state"] == "fault"


def test_without_a_word_it_checks_the_machine(capsys):
    assert doctor("--json") == 0
    found = rows(capsys)
    assert found["camera"]["state"] == "unused"
    assert found["disk"]["state"] == "ok"


def test_what_it_cannot_look_at_is_one_fault_among_others(tmp_path, capsys):
    assert doctor("domination", "--device", "97") == 1
    out = capsys.readouterr().out
    assert "FAULT  camera    camera 97: cannot be opened" in out
    assert "disk" in out


@pytest.mark.parametrize("words", [("nonsense",), ("domination", "--image", "none.jpg"), ("none.toml",)])
def test_what_it_cannot_run_with_is_one_line(words, capsys):
    assert doctor(*words) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_without_arguments_it_looks_for_everything_itself(capsys, monkeypatch):
    there = {CAMERAS: ("/dev/v4l/by-id/usb-none-video-index0",), CONTROLLERS: ("/dev/serial/by-id/usb-none",)}
    monkeypatch.setattr("companion.commands.doctor.find_devices", there.__getitem__)
    assert doctor("--json") == 1
    found = rows(capsys)
    assert (found["camera"]["state"], found["serial"]["state"]) == ("fault", "fault")
    assert "usb-none-video-index0" in found["camera"]["found"]
    assert "/dev/serial/by-id/usb-none" in found["serial"]["found"]
    assert doctor("domination", "--json") == 1
    assert rows(capsys)["serial"]["state"] == "unused"


def test_where_nothing_is_plugged_in_nothing_is_wrong(capsys, monkeypatch):
    monkeypatch.setattr("companion.commands.doctor.find_devices", lambda _: ())
    monkeypatch.setattr("companion.commands.doctor.list_camera_modules", lambda: "")
    assert doctor("--json") == 0
    found = rows(capsys)
    assert {found[name]["state"] for name in ("camera", "serial", "panel", "sound")} == {"unused"}
    assert "sound card" in found["sound"]["found"]


def test_a_phone_is_looked_through(started: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "companion.cli", "doctor", "domination", "--phone", "--web", "127.0.0.1:0"]
    doctor = started([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    address = urlsplit(doctor.stderr.readline().split()[-1])
    access = parse_qs(address.fragment)
    data = cv2.imencode(".jpg", np.full((720, 1280, 3), 90, np.uint8))[1].tobytes()
    is_over = threading.Event()

    def film() -> None:
        wire, taken = http.client.HTTPConnection("127.0.0.1", address.port, timeout=300), itertools.count()
        with suppress(OSError, http.client.HTTPException), closing(wire):
            while not is_over.wait(1 / 15):
                query = f"code={access['code'][0]}&phone=mine&page=1&taken={next(taken)}"
                wire.request("POST", f"/eye/1/picture?{query}", data)
                wire.getresponse().read()

    phone = threading.Thread(target=film)
    phone.start()
    rows = [json.loads(line) for line in doctor.stdout]
    is_over.set()
    phone.join()
    camera = next(row for row in rows if row["check"] == "camera")
    assert camera["found"].startswith("phone 1: 1280 x 720 px")
    assert {"lens", "markers", "focus"} <= {row["check"] for row in rows}


def test_a_phone_needs_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "domination", "--phone"]) == 2
    assert "--web" in capsys.readouterr().err
