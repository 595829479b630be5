"""A phone's page in a real browser, whose camera plays a recording, again and again: the referee sees its moves."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import pytest
from playwright.sync_api import Browser, Page, expect

WAIT_S = 300
"""Long enough for a machine that has other things to do."""

FPS = 5
"""Slower than it was filmed, so that a machine that has other things to do follows it."""


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Path:
    """The first moves of the example recording, as Chromium's fake camera plays them."""
    path = tmp_path_factory.mktemp("film") / "domination-1.y4m"
    video = cv2.VideoCapture(str(examples / "domination-1" / "video.mp4"))
    with path.open("wb") as out:
        out.write(b"YUV4MPEG2 W1280 H720 F%d:1 Ip A1:1 C420jpeg\n" % FPS)
        while (got := video.read())[0]:
            out.write(b"FRAME\n" + cv2.cvtColor(got[1], cv2.COLOR_BGR2YUV_I420).tobytes())
    return path


@pytest.fixture
def phone(film: Path, launch: Callable[..., Browser]) -> Iterator[Browser]:
    fake = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
    browser = launch(*fake, f"--use-file-for-fake-video-capture={film}")
    yield browser
    browser.close()


def referee(started: Callable[..., Any], examples: Path, folder: Path) -> tuple[subprocess.Popen[str], str]:
    """A referee who waits for a phone, and the address in its QR code."""
    profile = examples / "domination-1"
    words = [
        "--camera",
        profile / "camera.toml",
        "--set",
        profile / "set.toml",
        "--match",
        folder / "match.db",
        "--json",
    ]
    start = tomllib.loads((profile / "recording.toml").read_text())["start"]
    command = [sys.executable, "-m", "companion.cli", "referee", "domination", "--phone", "--web", "127.0.0.1:0"]
    command += ["--start", start]
    process = started([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    said = list[str]()
    while not (line := process.stderr.readline()).startswith("phone 1: http"):
        assert line, f"the referee has ended: {said}"
        said.append(line)
    return process, line.split()[-1]


def opened(browser: Browser, address: str) -> Page:
    page = browser.new_context(viewport={"width": 390, "height": 844}, locale="en-GB").new_page()
    page.goto(address)
    page.locator("#start").click()
    page.wait_for_selector('#state[data-kind="good"]', timeout=1000 * WAIT_S)
    return page


def told(process: subprocess.Popen[str], until: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """What the referee says until that is so."""
    events, end_s = list[dict[str, Any]](), time.monotonic() + WAIT_S
    while not until(events):
        line = process.stdout.readline()
        assert line, f"ended after {events}"
        assert time.monotonic() < end_s, f"waited in vain; said so far: {events}"
        events.append(json.loads(line))
    return events


@pytest.mark.slow
def test_a_phone_is_a_camera_and_another_is_turned_away(
    phone: Browser, examples: Path, tmp_path: Path, started: Callable[..., Any]
) -> None:
    process, address = referee(started, examples, tmp_path)
    page = opened(phone, address)
    assert "code" not in page.url
    stranger = phone.new_context(locale="de-DE").new_page()
    stranger.goto(address)
    stranger.locator("#start").click()
    expect(stranger.locator("#state")).to_contain_text("Ein anderes Telefon", timeout=1000 * WAIT_S)
    events = told(process, lambda said: any(event["event"] == "accepted" for event in said))
    assert events[-1]["move"] == "e7-f7"
    assert not any(event["event"] == "illegal" for event in events)
    expect(page.locator(".panel .said")).to_contain_text("e7-f7", timeout=1000 * WAIT_S)


@pytest.mark.slow
def test_a_page_that_is_left_is_a_lost_camera_and_comes_back(
    phone: Browser, examples: Path, tmp_path: Path, started: Callable[..., Any]
) -> None:
    process, address = referee(started, examples, tmp_path)
    page = opened(phone, address)
    told(process, lambda said: any(event["event"] == "accepted" for event in said))
    page.goto("about:blank")
    told(process, lambda said: any(event.get("state") == "camera-lost" for event in said))
    page.goto(address.partition("#")[0])
    try:
        page.wait_for_selector('#state[data-kind="good"]', timeout=40000)
    except Exception:
        print("STATE", page.locator("#state").text_content(), page.locator("#state").is_visible())
        page.screenshot(path="/tmp/fail.png")
        raise
    told(process, lambda said: any(event["event"] == "view" and event["state"] != "camera-lost" for event in said))


@pytest.mark.slow
def test_a_table_is_set_up_through_a_phone(phone: Browser, tmp_path: Path, started: Callable[..., Any]) -> None:
    command = [sys.executable, "-m", "companion.cli", "setup", "domination", "--phone", "--web", "127.0.0.1:0"]
    process = started([*command, "-o", tmp_path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    setup = process.stderr.readline().split()[-1]
    page = opened(phone, process.stderr.readline().split()[-1])
    row, until = dict[str, Any](), time.monotonic() + WAIT_S
    while "width" not in row:
        assert time.monotonic() < until, row
        row = page.request.get(f"{setup.partition('#')[0]}/state?step=camera").json()["row"]
    assert (row["width"], row["height"]) == (1280, 720)
