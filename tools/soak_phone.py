"""Tests a phone as camera and panel, by a real browser whose fake camera plays recordings.

``python -m tools.soak_phone --help``.  Every part prints its findings; the exit code is 1 if one of them is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import math
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import parse_qs

import cv2
import numpy as np
import numpy.typing as npt
from playwright.sync_api import Page, Playwright, sync_playwright

from companion.phone.access import PhoneAccess
from companion.phone.camera_routes import LARGEST_PICTURE, PhoneCameraRoutes
from companion.web.feed import Feed
from companion.web.page import Page as WebPage
from tools.phone_table import (
    FILM_CLOCK,
    Pillars,
    Profile,
    RunningReferee,
    browser_with_camera,
    noisy_copies,
    opened_on_phone,
    pictures_of,
    profile_of,
    refereed_from_file,
    running_referee,
    verdict,
    write_film,
)
from vision.capture.phone import PhoneCamera

ROOT = Path(__file__).parent.parent
COLLECTED = [ROOT.parent / "shared" / "recordings" / name for name in ("cheight-1", "diamond-1")]
"""Recordings of the larger collection, if it is beside the repository: characters, and pillars with sensors."""

FPS = 12
"""Frame rate of the recordings."""

STILL_FRAMES = 6 * FPS
"""Number of still frames before the first and after the last frame of a recording: the film is played in a loop, and
must not restart before the last verdict."""

RELOADS, OUTAGES, FORGED = 50, 20, 100
"""Number of page reloads, network outages and forged messages during a match."""

OUTAGE_S = 1.5
"""Duration of a network outage: longer than the second after which a camera is reported lost."""

RECEIVING_S, RECEIVING_FPS = 20.0, 12
"""Duration and frame rate of the measurement of receiving pictures."""

MAX_LATENCY_MS, MAX_CORE_SHARE, MAX_GROWTH_MB = 300.0, 0.10, 20.0
"""Limits: 95th percentile of the latency, share of a core, additional memory."""

SCREEN_CLOCK = """
window.seen = [];
addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
  const text = document.querySelector(".panel .said")?.textContent;
  if (!text || text === window.seen.at(-1)?.[1]) return;
  const said = [0, text];
  window.seen.push(said);
  requestAnimationFrame(() => setTimeout(() => { said[0] = (performance.timeOrigin + performance.now()) / 1000; }));
}).observe(document, { childList: true, subtree: true, characterData: true }));
"""
"""JavaScript that stores in ``window.seen`` each sentence of the panel, and when it was painted on the screen."""

Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a part: whether it is as expected, and its description."""

    is_right: bool
    text: str


def check_verdicts(
    playwright: Playwright, profile: Profile, folder: Path, fps: int
) -> tuple[list[Finding], list[float]]:
    """Play a recording and its sensors through the phone's page, and compare the verdicts with those from the file.

    Returns findings about verdicts and memory, and the latency of each verdict on the screen in ms.
    """
    events, file_mb = refereed_from_file(profile, folder)
    expected = [verdict(event) for event in events if _is_verdict(event)]
    pictures, film = pictures_of(profile.recording), folder / "film.y4m"
    write_film(
        film, chain(noisy_copies(pictures[0], STILL_FRAMES), pictures, noisy_copies(pictures[-1], STILL_FRAMES)), fps
    )
    lasts_s = (len(pictures) + 2 * STILL_FRAMES) / fps
    with closing(Pillars(profile, folder)) as pillars, running_referee(profile, folder, *pillars.arguments) as table:
        browser = browser_with_camera(playwright, film)
        page = opened_on_phone(browser, table.addresses[0], FILM_CLOCK + SCREEN_CLOCK)
        pillars.begin(page.evaluate("window.filmed") + STILL_FRAMES / fps, fps / FPS)
        table.until(lambda: len(table.verdicts) >= len(expected), lasts_s)
        time.sleep(1.0)
        got, check_latency, phone_mb = table.verdicts, list(_latencies_ms(table, page)), table.peak_mb
        browser.close()
    name = profile.recording.name
    text = f"{name}: {len(expected)} verdicts from the file, {len(got)} through the phone"
    same = Finding(got == expected, text if got == expected else f"{text}: {got} instead of {expected}")
    growth_mb = phone_mb - file_mb
    return [
        same,
        Finding(
            growth_mb <= MAX_GROWTH_MB,
            f"{name}: the referee held {phone_mb:.0f} MB, {growth_mb:+.0f} MB to that of the file",
        ),
    ], check_latency


def _is_verdict(event: dict[str, Any]) -> bool:
    return event["event"] not in ("start", "view", "sensors", "clock")


def _latencies_ms(table: RunningReferee, page: Page) -> Iterator[float]:
    """Yield the ms from the capture of the decisive picture to the verdict on the screen."""
    events = [event for event in table.events if event["event"] in ("accepted", "illegal", "restored")]
    shown = [(at_s, text) for at_s, text in page.evaluate("window.seen") if at_s]
    for event in events:
        taken_s = table.begun_s + event["t"]
        move = event.get("move") or event.get("attempt") or ""
        after = [at_s for at_s, text in shown if at_s >= taken_s and (move in text)]
        if after:
            yield 1000 * (after[0] - taken_s)


def still_scenes(profile: Profile, events: Sequence[dict[str, Any]]) -> list[Picture]:
    """The pictures of the table before the first verdict and at each one."""
    pictures = pictures_of(profile.recording)
    return [pictures[0], *(pictures[min(len(pictures) - 1, round(e["t"] * FPS))] for e in events)]


@dataclass(frozen=True, slots=True)
class Breaks:
    """Number of reloads, outages and forged messages; ``acts``: number of verdicts to play, None for all."""

    reloads: int = RELOADS
    cuts: int = OUTAGES
    forged: int = FORGED
    acts: int | None = None


def check_breaks(playwright: Playwright, profile: Profile, folder: Path, breaks: Breaks) -> Finding:
    """Check that a match survives page reloads, network outages and forged messages."""
    events = [event for event in refereed_from_file(profile, folder)[0] if _is_verdict(event)][: breaks.acts]
    expected, cuts, forged = [verdict(event) for event in events], breaks.cuts, breaks.forged
    scenes, film = still_scenes(profile, events), folder / "film.y4m"
    write_film(film, noisy_copies(scenes[0]), FPS)
    with running_referee(profile, folder) as table:
        browser = browser_with_camera(playwright, film)
        page = opened_on_phone(browser, table.addresses[0], SCREEN_CLOCK)
        table.until(lambda: table.mode == "watching")
        refused = _send_forged(table, forged)
        scenes_done, times = 0, breaks.reloads + cuts
        for i in range(1, times + 1):
            # The next scene is prepared while the phone is away.
            scene = min(len(scenes) - 1, math.floor(i * len(scenes) / times))
            if scene > scenes_done:
                write_film(film, noisy_copies(scenes[scene]), FPS)
            if i % math.ceil(times / cuts) == 0 and scene == scenes_done:
                _interrupt(page)
            else:
                page.reload()
            page.wait_for_selector('#state[data-kind="good"]')
            if scene > scenes_done:
                scenes_done = scene
                is_judged = table.until(lambda n=scenes_done: len(table.verdicts) >= n)  # type: ignore[misc]
                assert is_judged, f"scene {scenes_done}: {table.events}"
        got, counted = table.verdicts, f"messages refused so far: {forged}" in table.messages
        browser.close()
    text = f"{breaks.reloads} reloads, {cuts} cuts, {refused} of {forged} forged messages refused; {len(got)} verdicts"
    is_right = got == expected and refused == forged and counted
    return Finding(is_right, text if is_right else f"{text}: {got} instead of {expected}; counted: {counted}")


def _interrupt(page: Page) -> None:
    """Take the phone off the network for a while."""
    page.context.set_offline(True)
    page.wait_for_timeout(1000 * OUTAGE_S)
    page.context.set_offline(False)


def _send_forged(table: RunningReferee, count: int) -> int:
    """Send ``count`` forged messages, with a wrong code or from a second phone; return how many were refused."""
    code = parse_qs(table.addresses[0].partition("#")[2])["code"][0]
    refused = 0
    for i in range(count):
        guess = f"/eye/1/picture?code={code[:-1]}x&phone=stranger&page=1&taken=1"
        known = f"/eye/1/picture?code={code}&phone=stranger&page=1&taken=1"
        connection = http.client.HTTPConnection("127.0.0.1", table.port, timeout=60)
        with contextlib.closing(connection):
            body = b"\xff\xd8" * (LARGEST_PICTURE if i % 10 == 0 else 50)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.request("POST", guess if i % 2 else known, body)
            with contextlib.suppress(ConnectionResetError):
                refused += connection.getresponse().status in (400, 403, 413, 415)
    return refused


def check_pushed(playwright: Playwright, profile: Profile, folder: Path) -> Finding:
    """Check that a pushed phone is reported as moved, and causes no verdict."""
    pictures, film = pictures_of(profile.recording), folder / "film.y4m"
    still = pictures[0]
    write_film(film, noisy_copies(still), FPS)
    with running_referee(profile, folder) as table:
        browser = browser_with_camera(playwright, film)
        page = opened_on_phone(browser, table.addresses[0])
        table.until(lambda: table.mode == "watching")
        # The whole mat stays visible.
        push = cv2.getRotationMatrix2D((still.shape[1] / 2, still.shape[0] / 2), 1.5, 0.96)
        pushed = cv2.warpAffine(still, push, still.shape[1::-1], borderMode=cv2.BORDER_REPLICATE)
        write_film(film, noisy_copies(np.asarray(pushed, np.uint8)), FPS)
        page.reload()
        page.wait_for_selector('#state[data-kind="good"]')
        is_told = table.until(lambda: any(event.get("state") == "moved" for event in table.events))
        verdicts = table.verdicts
        browser.close()
    return Finding(
        is_told and not verdicts, f"a pushed phone: moved was {'' if is_told else 'not '}said; verdicts: {verdicts}"
    )


def check_two_phones(playwright: Playwright, profile: Profile, folder: Path) -> Finding:
    """Check that with two phones as cameras, one may disappear: this is reported, and the other one is used."""
    film = folder / "film.y4m"
    write_film(film, noisy_copies(pictures_of(profile.recording)[0]), FPS)
    with running_referee(profile, folder, "--camera", str(profile.camera), phones=2) as table:
        browser = browser_with_camera(playwright, film)
        pages = [opened_on_phone(browser, address) for address in table.addresses]
        time.sleep(2.0)
        pages[0].context.close()
        is_missed = table.until(lambda: "phone 1: no" in table.messages.rpartition("phone 2: is here")[2])
        # The other phone still sees the table.
        is_seen = table.until(lambda: table.view not in ("camera-lost", "no-mat"))
        browser.close()
    return Finding(
        is_missed and is_seen, f"two phones, one of which goes: noticed {is_missed}, the other sees {is_seen}"
    )


def check_receiving(profile: Profile, lasts_s: float) -> Finding:
    """Measure the cost of receiving and decoding a phone's pictures: share of a core, and memory."""
    picture = pictures_of(profile.recording)[0]
    size = (picture.shape[1], picture.shape[0])
    jpeg = bytes(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes())
    camera, is_over = PhoneCamera("phone 1", size), threading.Event()
    phone_cameras = PhoneCameraRoutes([PhoneAccess("secret")], lambda: "token")
    phone_cameras.look([camera])
    page = WebPage(("127.0.0.1", 0), Feed("domination"), routes=phone_cameras.routes())
    reader = threading.Thread(target=_read, args=(camera, is_over))
    reader.start()
    command = [sys.executable, "-m", "tools.soak_phone", "--send", str(page.server.port)]
    core_shares, growth_mb = list[float](), list[float]()
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=ROOT) as sender_process:  # noqa: S603
        assert sender_process.stdin is not None
        sender_process.stdin.write(jpeg)
        sender_process.stdin.close()
        time.sleep(2.0)
        before_mb = _memory_mb()
        for _ in range(max(1, round(lasts_s / 5))):
            begun_s, cpu_before = time.perf_counter(), time.process_time()
            time.sleep(5.0)
            core_shares.append((time.process_time() - cpu_before) / (time.perf_counter() - begun_s))
            growth_mb.append(_memory_mb() - before_mb)
        sender_process.kill()
    is_over.set()
    reader.join()
    page.close()
    text = f"{RECEIVING_FPS} pictures a second, {len(jpeg) / 1e3:.0f} kB each, decoded: "
    text += f"{median(core_shares):.1%} of a core"
    text += f" ({min(core_shares):.1%} to {max(core_shares):.1%}), {max(growth_mb):+.1f} MB"
    return Finding(median(core_shares) <= MAX_CORE_SHARE and max(growth_mb) <= MAX_GROWTH_MB, text)


def _read(camera: PhoneCamera, is_over: threading.Event) -> None:
    """Grab pictures until ``is_over``."""
    while not is_over.is_set():
        with contextlib.suppress(OSError):
            camera.grab()


def _memory_mb() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def send(port: int) -> None:
    """Act as a phone that sends one picture, from standard input, RECEIVING_FPS times a second until killed."""
    jpeg, connection = sys.stdin.buffer.read(), http.client.HTTPConnection("127.0.0.1", port)
    begun_s = time.monotonic()
    for i in range(1_000_000):
        time.sleep(max(0.0, begun_s + i / RECEIVING_FPS - time.monotonic()))
        taken_ms = round(1000 * time.monotonic())
        connection.request("POST", f"/eye/1/picture?code=secret&phone=mine&page=1&taken={taken_ms}", jpeg)
        connection.getresponse().read()


def check_latency(findings: Sequence[float]) -> Finding:
    """Check the latencies (ms) of all verdicts."""
    if not findings:
        return Finding(is_right=False, text="no verdict was seen on the phone's screen")
    p95 = float(np.percentile(findings, 95))
    text = f"capture to screen, {len(findings)} verdicts: median {median(findings):.0f} ms, p95 {p95:.0f} ms"
    return Finding(p95 <= MAX_LATENCY_MS, f"{text}, most {max(findings):.0f} ms")


def run_parts(profiles: Sequence[Profile], parts: Sequence[str], breaks: Breaks, fps: int) -> bool:
    """Run the parts and print their findings; return whether all are as expected."""
    findings = list[Finding]()

    def report(finding: Finding) -> None:
        findings.append(finding)
        print("right" if finding.is_right else "WRONG", finding.text, flush=True)

    def in_folder(part: Callable[[Path], Finding]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            report(part(Path(folder)))

    with sync_playwright() as playwright:
        if "verdicts" in parts:
            all_ms = list[float]()
            for profile in profiles:
                with tempfile.TemporaryDirectory() as folder:
                    verdict_findings, latencies_ms = check_verdicts(playwright, profile, Path(folder), fps)
                for finding in verdict_findings:
                    report(finding)
                all_ms += latencies_ms
            report(check_latency(all_ms))
        if "breaks" in parts:
            in_folder(lambda folder: check_breaks(playwright, profiles[0], folder, breaks))
        if "moved" in parts:
            in_folder(lambda folder: check_pushed(playwright, profiles[0], folder))
        if "two" in parts:
            in_folder(lambda folder: check_two_phones(playwright, profiles[0], folder))
    if "receiving" in parts:
        report(check_receiving(profiles[0], RECEIVING_S))
    return all(finding.is_right for finding in findings)


PARTS = ("verdicts", "breaks", "moved", "two", "receiving")


def main() -> int:
    """Run the parts that the command line names, by default all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "recordings", nargs="*", type=Path, help="folders (default: domination-1, and two of the collection)"
    )
    parser.add_argument("--part", choices=PARTS, action="append", help="run only this part; may be repeated")
    parser.add_argument(
        "--fps", type=int, default=FPS, help="frame rate of the film; lower it on a busy machine (default: 12)"
    )
    parser.add_argument("--reloads", type=int, default=RELOADS)
    parser.add_argument("--cuts", type=int, default=OUTAGES)
    parser.add_argument("--send", type=int, metavar="PORT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.send:
        send(options.send)
        return 0
    usual = [ROOT / "examples" / "domination-1", *(folder for folder in COLLECTED if folder.is_dir())]
    breaks = Breaks(options.reloads, options.cuts)
    with tempfile.TemporaryDirectory() as work:
        profiles = [profile_of(folder.resolve(), Path(work)) for folder in options.recordings or usual]
        return 0 if run_parts(profiles, options.part or PARTS, breaks, options.fps) else 1


if __name__ == "__main__":
    sys.exit(main())
