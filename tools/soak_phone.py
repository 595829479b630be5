"""A phone as camera and panel, in a real browser whose camera plays recordings: ``python -m tools.soak_phone --help``.

Every part tells what it found in a line, and the program ends with 1 where something was not as it should be.
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

from companion.phone.door import Door
from companion.phone.eye import LARGEST_PICTURE, EyeRoutes
from companion.web.feed import Feed
from companion.web.page import Page as WebPage
from tools.phone_table import (
    FILMED,
    Pillars,
    Profile,
    Refereed,
    alive,
    filming,
    from_file,
    pictures_of,
    profile_of,
    refereed,
    taken_in_hand,
    verdict,
    write_film,
)
from vision.capture.phone import PhoneCamera

ROOT = Path(__file__).parent.parent
COLLECTED = [ROOT.parent / "shared" / "recordings" / name for name in ("cheight-1", "diamond-1")]
"""Of the larger collection, where it is beside the repository: characters, and pillars with their sensors."""

FPS = 12
HELD = 6 * FPS
"""So many pictures the table lies still before the first hand and after the last one: the film is played over and over,
and must not begin again before the last verdict."""

RELOADS, CUTS, FORGED = 50, 20, 100
CUT_S = 1.5
"""So long the phone is without its network: longer than the second after which the camera counts as lost."""

RECEIVED_S, RECEIVED_FPS = 20.0, 12
MOST_LATE_MS, MOST_CORE, MOST_MB = 300.0, 0.10, 20.0

SHOWN = """
window.seen = [];
addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
  const text = document.querySelector(".panel .said")?.textContent;
  if (!text || text === window.seen.at(-1)?.[1]) return;
  const said = [0, text];
  window.seen.push(said);
  requestAnimationFrame(() => setTimeout(() => { said[0] = (performance.timeOrigin + performance.now()) / 1000; }));
}).observe(document, { childList: true, subtree: true, characterData: true }));
"""
"""Notes when each sentence stood on the screen: after the picture that was painted next."""

Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Found:
    """What a part found: whether it is as it should be, and in words."""

    is_right: bool
    text: str


def played(playwright: Playwright, profile: Profile, folder: Path, fps: int) -> tuple[list[Found], list[float]]:
    """A recording, and its sensors, through the phone's page: verdicts, and how late each was on the screen, ms."""
    events, file_mb = from_file(profile, folder)
    wanted = [verdict(event) for event in events if _is_verdict(event)]
    pictures, film = pictures_of(profile.recording), folder / "film.y4m"
    write_film(film, chain(alive(pictures[0], HELD), pictures, alive(pictures[-1], HELD)), fps)
    lasts_s = (len(pictures) + 2 * HELD) / fps
    with closing(Pillars(profile, folder)) as pillars, refereed(profile, folder, *pillars.words) as table:
        browser = filming(playwright, film)
        page = taken_in_hand(browser, table.addresses[0], FILMED + SHOWN)
        pillars.begin(page.evaluate("window.filmed") + HELD / fps, fps / FPS)
        table.until(lambda: len(table.verdicts) >= len(wanted), lasts_s)
        time.sleep(1.0)
        got, late, phone_mb = table.verdicts, list(_late_ms(table, page)), table.most_mb
        browser.close()
    name = profile.recording.name
    text = f"{name}: {len(wanted)} verdicts from the file, {len(got)} through the phone"
    same = Found(got == wanted, text if got == wanted else f"{text}: {got} instead of {wanted}")
    more_mb = phone_mb - file_mb
    return [
        same,
        Found(more_mb <= MOST_MB, f"{name}: the referee held {phone_mb:.0f} MB, {more_mb:+.0f} MB to that of the file"),
    ], late


def _is_verdict(event: dict[str, Any]) -> bool:
    return event["event"] not in ("start", "view", "sensors", "clock")


def _late_ms(table: Refereed, page: Page) -> Iterator[float]:
    """From the capture of the picture that decided to the verdict on the screen."""
    events = [event for event in table.events if event["event"] in ("accepted", "illegal", "restored")]
    shown = [(at_s, text) for at_s, text in page.evaluate("window.seen") if at_s]
    for event in events:
        taken_s = table.begun_s + event["t"]
        move = event.get("move") or event.get("attempt") or ""
        after = [at_s for at_s, text in shown if at_s >= taken_s and (move in text)]
        if after:
            yield 1000 * (after[0] - taken_s)


def stills(profile: Profile, events: Sequence[dict[str, Any]]) -> list[Picture]:
    """The table as it lay before the first verdict and at each of them."""
    pictures = pictures_of(profile.recording)
    return [pictures[0], *(pictures[min(len(pictures) - 1, round(e["t"] * FPS))] for e in events)]


@dataclass(frozen=True, slots=True)
class Breaks:
    """How often a match is disturbed: ``acts`` are the verdicts of the recording that are waited for, None: all."""

    reloads: int = RELOADS
    cuts: int = CUTS
    forged: int = FORGED
    acts: int | None = None


def broken_off(playwright: Playwright, profile: Profile, folder: Path, breaks: Breaks) -> Found:
    """A match during which the page is loaded anew and cut off again and again, and strangers send what they like."""
    told = [event for event in from_file(profile, folder)[0] if _is_verdict(event)][: breaks.acts]
    wanted, cuts, forged = [verdict(event) for event in told], breaks.cuts, breaks.forged
    scenes, film = stills(profile, told), folder / "film.y4m"
    write_film(film, alive(scenes[0]), FPS)
    with refereed(profile, folder) as table:
        browser = filming(playwright, film)
        page = taken_in_hand(browser, table.addresses[0], SHOWN)
        table.until(lambda: table.mode == "watching")
        refused = _forge(table, forged)
        done, times = 0, breaks.reloads + cuts
        for i in range(1, times + 1):
            # The next scene is laid while the phone is away.
            scene = min(len(scenes) - 1, math.floor(i * len(scenes) / times))
            if scene > done:
                write_film(film, alive(scenes[scene]), FPS)
            if i % math.ceil(times / cuts) == 0 and scene == done:
                _cut(page)
            else:
                page.reload()
            page.wait_for_selector('#state[data-kind="good"]')
            if scene > done:
                done = scene
                assert table.until(lambda n=done: len(table.verdicts) >= n), f"scene {done}: {table.events}"  # type: ignore[misc]
        got, counted = table.verdicts, f"messages refused so far: {forged}" in table.said
        browser.close()
    text = f"{breaks.reloads} reloads, {cuts} cuts, {refused} of {forged} forged messages refused; {len(got)} verdicts"
    is_right = got == wanted and refused == forged and counted
    return Found(is_right, text if is_right else f"{text}: {got} instead of {wanted}; counted: {counted}")


def _cut(page: Page) -> None:
    page.context.set_offline(True)
    page.wait_for_timeout(1000 * CUT_S)
    page.context.set_offline(False)


def _forge(table: Refereed, count: int) -> int:
    """Send what nobody may: how many of so many messages were refused."""
    code = parse_qs(table.addresses[0].partition("#")[2])["code"][0]
    refused = 0
    for i in range(count):
        guess = f"/eye/1/picture?code={code[:-1]}x&phone=stranger&page=1&taken=1"
        known = f"/eye/1/picture?code={code}&phone=stranger&page=1&taken=1"
        wire = http.client.HTTPConnection("127.0.0.1", table.port, timeout=60)
        with contextlib.closing(wire):
            body = b"\xff\xd8" * (LARGEST_PICTURE if i % 10 == 0 else 50)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                wire.request("POST", guess if i % 2 else known, body)
            with contextlib.suppress(ConnectionResetError):
                refused += wire.getresponse().status in (400, 403, 413, 415)
    return refused


def moved(playwright: Playwright, profile: Profile, folder: Path) -> Found:
    """A phone that somebody pushes is told of, and goes on seeing."""
    pictures, film = pictures_of(profile.recording), folder / "film.y4m"
    still = pictures[0]
    write_film(film, alive(still), FPS)
    with refereed(profile, folder) as table:
        browser = filming(playwright, film)
        page = taken_in_hand(browser, table.addresses[0])
        table.until(lambda: table.mode == "watching")
        # The mat stays wholly in sight.
        push = cv2.getRotationMatrix2D((still.shape[1] / 2, still.shape[0] / 2), 1.5, 0.96)
        pushed = cv2.warpAffine(still, push, still.shape[1::-1], borderMode=cv2.BORDER_REPLICATE)
        write_film(film, alive(np.asarray(pushed, np.uint8)), FPS)
        page.reload()
        page.wait_for_selector('#state[data-kind="good"]')
        is_told = table.until(lambda: any(event.get("state") == "moved" for event in table.events))
        said = table.verdicts
        browser.close()
    return Found(is_told and not said, f"a pushed phone: moved was {'' if is_told else 'not '}said; verdicts: {said}")


def two(playwright: Playwright, profile: Profile, folder: Path) -> Found:
    """Two phones are two cameras: one of them may go, and nothing is lost."""
    film = folder / "film.y4m"
    write_film(film, alive(pictures_of(profile.recording)[0]), FPS)
    with refereed(profile, folder, "--camera", str(profile.camera), phones=2) as table:
        browser = filming(playwright, film)
        pages = [taken_in_hand(browser, address) for address in table.addresses]
        time.sleep(2.0)
        pages[0].context.close()
        is_missed = table.until(lambda: "phone 1: no" in table.said.rpartition("phone 2: is here")[2])
        # The other one goes on seeing, so that the table is not without a camera.
        is_seen = table.until(lambda: table.view not in ("camera-lost", "no-mat"))
        browser.close()
    return Found(is_missed and is_seen, f"two phones, one of which goes: noticed {is_missed}, the other sees {is_seen}")


def receiving(profile: Profile, lasts_s: float) -> Found:
    """What taking in a phone's pictures costs this process: share of a core, and memory."""
    picture = pictures_of(profile.recording)[0]
    size = (picture.shape[1], picture.shape[0])
    data = bytes(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes())
    camera, is_over = PhoneCamera("phone 1", size), threading.Event()
    eyes = EyeRoutes([Door("secret")], lambda: "token")
    eyes.look([camera])
    page = WebPage(("127.0.0.1", 0), Feed("domination"), routes=eyes.routes())
    reader = threading.Thread(target=_read, args=(camera, is_over))
    reader.start()
    sender = [sys.executable, "-m", "tools.soak_phone", "--send", str(page.server.port)]
    shares, held = list[float](), list[float]()
    with subprocess.Popen(sender, stdin=subprocess.PIPE, cwd=ROOT) as phone:  # noqa: S603
        assert phone.stdin is not None
        phone.stdin.write(data)
        phone.stdin.close()
        time.sleep(2.0)
        before_mb = _memory_mb()
        for _ in range(max(1, round(lasts_s / 5))):
            begun, used = time.perf_counter(), time.process_time()
            time.sleep(5.0)
            shares.append((time.process_time() - used) / (time.perf_counter() - begun))
            held.append(_memory_mb() - before_mb)
        phone.kill()
    is_over.set()
    reader.join()
    page.close()
    text = f"{RECEIVED_FPS} pictures a second, {len(data) / 1e3:.0f} kB each, decoded: {median(shares):.1%} of a core"
    text += f" ({min(shares):.1%} to {max(shares):.1%}), {max(held):+.1f} MB"
    return Found(median(shares) <= MOST_CORE and max(held) <= MOST_MB, text)


def _read(camera: PhoneCamera, is_over: threading.Event) -> None:
    while not is_over.is_set():
        with contextlib.suppress(OSError):
            camera.grab()


def _memory_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def send(port: int) -> None:
    """Be a phone that sends one picture, from standard input, so many times a second, until killed."""
    data, wire = sys.stdin.buffer.read(), http.client.HTTPConnection("127.0.0.1", port)
    begun = time.monotonic()
    for i in range(1_000_000):
        time.sleep(max(0.0, begun + i / RECEIVED_FPS - time.monotonic()))
        taken_ms = round(1000 * time.monotonic())
        wire.request("POST", f"/eye/1/picture?code=secret&phone=mine&page=1&taken={taken_ms}", data)
        wire.getresponse().read()


def late(found: Sequence[float]) -> Found:
    """How late verdicts were, together."""
    if not found:
        return Found(is_right=False, text="no verdict was seen on the phone's screen")
    p95 = float(np.percentile(found, 95))
    text = f"capture to screen, {len(found)} verdicts: median {median(found):.0f} ms, p95 {p95:.0f} ms"
    return Found(p95 <= MOST_LATE_MS, f"{text}, most {max(found):.0f} ms")


def run(profiles: Sequence[Profile], parts: Sequence[str], breaks: Breaks, fps: int) -> bool:
    """Tell what each part finds; whether all is as it should be."""
    found = list[Found]()

    def tell(each: Found) -> None:
        found.append(each)
        print("right" if each.is_right else "WRONG", each.text, flush=True)

    def in_folder(part: Callable[[Path], Found]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tell(part(Path(folder)))

    with sync_playwright() as playwright:
        if "verdicts" in parts:
            all_ms = list[float]()
            for profile in profiles:
                with tempfile.TemporaryDirectory() as folder:
                    each, late_ms = played(playwright, profile, Path(folder), fps)
                for one in each:
                    tell(one)
                all_ms += late_ms
            tell(late(all_ms))
        if "breaks" in parts:
            in_folder(lambda folder: broken_off(playwright, profiles[0], folder, breaks))
        if "moved" in parts:
            in_folder(lambda folder: moved(playwright, profiles[0], folder))
        if "two" in parts:
            in_folder(lambda folder: two(playwright, profiles[0], folder))
    if "receiving" in parts:
        tell(receiving(profiles[0], RECEIVED_S))
    return all(each.is_right for each in found)


PARTS = ("verdicts", "breaks", "moved", "two", "receiving")


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("recordings", nargs="*", type=Path, help="folders (domination-1, and those of the collection)")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this; again for another")
    parser.add_argument("--fps", type=int, default=FPS, help="a busy machine follows a slower film better (12)")
    parser.add_argument("--reloads", type=int, default=RELOADS)
    parser.add_argument("--cuts", type=int, default=CUTS)
    parser.add_argument("--send", type=int, metavar="PORT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.send:
        send(options.send)
        return 0
    usual = [ROOT / "examples" / "domination-1", *(folder for folder in COLLECTED if folder.is_dir())]
    breaks = Breaks(options.reloads, options.cuts)
    with tempfile.TemporaryDirectory() as work:
        profiles = [profile_of(folder.resolve(), Path(work)) for folder in options.recordings or usual]
        return 0 if run(profiles, options.part or PARTS, breaks, options.fps) else 1


if __name__ == "__main__":
    sys.exit(main())
