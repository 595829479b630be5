"""A phone's page in a real browser whose camera plays a recording repeatedly: the referee sees its moves."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from companion.simulate.photographer import HOLDS, board_held
from companion.simulate.viewpoint import default_camera
from tools.phone_table import WAIT_S, noisy_copies, opened_on_phone, pictures_of, write_film

pytestmark = [pytest.mark.pictures, pytest.mark.slow]

FPS = 5
"""Slower than it was filmed, so that a busy machine can follow."""

HELD = 4
"""Number of pictures for which the board is held still: two are needed, and a busy machine misses some."""


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file that the browser's camera plays; it is reopened with every page."""
    return tmp_path_factory.mktemp("film") / "film.y4m"


@pytest.fixture(scope="module")
def phone(film: Path, launch: Callable[..., Browser]) -> Browser:
    """Launch a browser whose camera plays the film."""
    fake = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
    return launch(*fake, f"--use-file-for-fake-video-capture={film}")


def addresses(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return the page's address, and the one in the phone's QR code."""
    said = list[str]()
    while not (line := process.stderr.readline()).startswith("phone 1: http"):  # type: ignore[union-attr]
        assert line, f"the program has ended: {said}"
        said.append(line)
    return next(line.split()[-1] for line in said if "http" in line), line.split()[-1]


def referee(started: Callable[..., Any], examples: Path, folder: Path) -> subprocess.Popen[str]:
    """Start a referee that waits for a phone."""
    profile = examples / "domination-1"
    start = tomllib.loads((profile / "recording.toml").read_text())["start"]
    command = [sys.executable, "-m", "companion.cli", "referee", "domination", "--phone", "--web", "127.0.0.1:0"]
    command += ["--start", start, "--camera", profile / "camera.toml", "--set", profile / "set.toml"]
    command += ["--match", folder / "match.db", "--json"]
    process: subprocess.Popen[str] = started(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    )
    return process


def told(process: subprocess.Popen[str], is_it: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """Return the referee's events up to the first for which ``is_it`` holds."""
    events, end_s = list[dict[str, Any]](), time.monotonic() + WAIT_S
    while not (events and is_it(events[-1])):
        line = process.stdout.readline()  # type: ignore[union-attr]
        assert line, f"ended after {events}"
        assert time.monotonic() < end_s, f"waited in vain; said so far: {events}"
        events.append(json.loads(line))
    return events


def test_a_phone_is_the_camera_and_comes_back_and_another_is_turned_away(
    phone: Browser, film: Path, examples: Path, tmp_path: Path, started: Callable[..., Any]
) -> None:
    write_film(film, pictures_of(examples / "domination-1"), FPS)
    process = referee(started, examples, tmp_path)
    _, address = addresses(process)
    page = opened_on_phone(phone, address)
    assert "code" not in page.url
    stranger = phone.new_context(locale="de-DE").new_page()
    stranger.goto(address)
    stranger.locator("#start").click()
    expect(stranger.locator("#state")).to_contain_text("Ein anderes Telefon", timeout=1000 * WAIT_S)
    stranger.context.close()
    events = told(process, lambda event: event["event"] == "accepted")
    assert events[-1]["move"] == "e7-f7"
    assert not any(event["event"] == "illegal" for event in events)
    expect(page.locator(".panel .said")).to_contain_text("e7-f7", timeout=1000 * WAIT_S)
    page.goto("about:blank")
    told(process, lambda event: event.get("state") == "camera-lost")
    page.goto(address.partition("#")[0])
    page.wait_for_selector('#state[data-kind="good"]')
    told(process, lambda event: event["event"] == "view" and event["state"] != "camera-lost")
    page.context.close()


@pytest.mark.soak
def test_a_lens_is_measured_with_the_phone_in_the_hand(
    phone: Browser, film: Path, tmp_path: Path, started: Callable[..., Any]
) -> None:
    camera = default_camera()
    held = [picture for hold in range(len(HOLDS)) for picture in noisy_copies(board_held(camera, hold), HELD)]
    write_film(film, held, 2 * FPS)
    command = [sys.executable, "-m", "companion.cli", "setup", "domination", "--phone", "--web", "127.0.0.1:0"]
    process = started([*command, "-o", tmp_path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    setup, address = addresses(process)
    place, _, token = setup.partition("#token=")
    page = opened_on_phone(phone, address)

    def ask(page: Page, action: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}"}
        answer = page.request.post(f"{place}/{action}", data={}, headers=headers, timeout=1000 * WAIT_S)
        row: dict[str, Any] = answer.json()["row"]
        return row

    page.request.get(f"{place}/state?step=lens")
    assert ask(page, "collect")["collecting"]
    expect(page.locator("#state")).to_contain_text("good views of 8", timeout=1000 * WAIT_S)
    expect(page.locator("#state")).to_contain_text("That is enough", timeout=1000 * WAIT_S)
    row = ask(page, "measure-lens")
    assert (row["good"], row["enough"]) == (True, True)
    page.context.close()
