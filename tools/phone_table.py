"""A recorded table filmed by a phone: Chromium's fake camera plays pictures to the referee's own page."""

from __future__ import annotations

import bisect
import json
import os
import re
import subprocess
import sys
import threading
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from playwright.sync_api import Browser, BrowserContext, Page, Playwright

from calibration.kit import Kit, load_kit
from companion.app.sensors import read_heights
from firmware_bridge.simulated.bench import Bench
from firmware_bridge.simulated.device import Device
from firmware_bridge.simulated.port import Port, serve
from tools.chromium import launched

UPRIGHT = (390, 844)
"""Width and height of a phone's page, px."""

WAIT_S = 300.0
"""Timeout, long enough for a busy machine."""

LOOK_S = 0.05
VERDICTS = (
    "accepted",
    "illegal",
    "restored",
    "unfinished",
    "unsure",
    "taken-back",
    "corrected",
    "withdrawn",
    "game-over",
)
"""Events about the match; the others are about the camera."""

LAUNCH = """
import sys, time
from companion.cli import main
from vision.capture.live import LiveSource
opened = LiveSource.__init__
def told(self, *given, **named):
    opened(self, *given, **named)
    print("begun:", time.time() - time.monotonic() + self._begun_s, file=sys.stderr, flush=True)
LiveSource.__init__ = told
sys.exit(main())
"""
"""The program itself, which also tells when the time of its source began, by the clock that browsers have too."""


FILMED = """
window.filmed = 0;
const give = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (wanted) => {
  const stream = await give(wanted);
  window.filmed = (performance.timeOrigin + performance.now()) / 1000;
  return stream;
};
"""
"""Notes when the camera, and so the film, began, by the wall clock."""


MEASURED = """
import sys
from companion.cli import main
try:
    sys.exit(main())
finally:
    print(open("/proc/self/status").read(), file=sys.stderr, flush=True)
"""
"""The program itself, which at its end tells what memory it has held (``ru_maxrss`` would count its parent's too)."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A recording with the files that a calibration made: of its camera, and of the appearance of its set."""

    recording: Path
    camera: Path
    appearance: Path

    @property
    def words(self) -> list[str]:
        """The arguments of `companion referee` that name its game, its start and its files."""
        told = tomllib.loads((self.recording / "recording.toml").read_text(encoding="utf-8"))
        start = told["start"]
        return [start.split()[0], "--start", start, "--camera", str(self.camera), "--set", str(self.appearance)]

    @property
    def kit(self) -> Kit:
        """The set that was filmed."""
        told = tomllib.loads((self.recording / "recording.toml").read_text(encoding="utf-8"))
        return load_kit(told["kit"])


def profile_of(recording: Path, work: Path) -> Profile:
    """The profile of a recording: beside it, or made in ``work`` from the photographs that it names."""
    camera, appearance = recording / "camera.toml", recording / "set.toml"
    if camera.is_file() and appearance.is_file():
        return Profile(recording, camera, appearance)
    told = tomllib.loads((recording / "recording.toml").read_text(encoding="utf-8"))
    lens, made = recording / told["lens"], work / recording.name
    made.mkdir()
    camera, appearance = made / "camera.toml", made / "set.toml"
    photos = sorted(map(str, lens.glob("*.jpg")))
    _companion("calibrate", "lens", *photos, "--board", str(lens / "charuco.toml"), "-o", str(camera))
    enrol = str(recording / told["enrol"])
    _companion("calibrate", "pieces", told["kit"], "--camera", str(camera), enrol, "-o", str(appearance))
    return Profile(recording, camera, appearance)


def _companion(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "companion.cli", *words], check=True, env=_here(), stdout=subprocess.DEVNULL)  # noqa: S603


class Pillars:
    """The pillars of a recording, measured by the real firmware behind a pseudo-terminal while its film is played.

    Attributes:
        words: the arguments of `companion referee` that name the port; none where the kit has no pillars.
    """

    def __init__(self, profile: Profile, folder: Path) -> None:
        self.words: list[str] = []
        self._begun_s, self._pace, self._over = float("inf"), 1.0, threading.Event()
        kit, file = profile.kit, profile.recording / "sensors.csv"
        self._thread = None
        if kit.pillars is None or not file.is_file():
            return
        at = kit.pillars
        self._scans = [scan for scan in read_heights(file, kit.cells) if None not in scan.heights_mm]
        ends_mm = (at.base_mm + at.step_mm * level for level in (at.lowest, at.highest))
        bench = Bench(self._heights_mm(0.0), *ends_mm, noise_mm=0.0)
        port = Port(folder / "pillars")
        self.words = ["--serial", str(folder / "pillars")]
        device = Device(bench, self._heights_mm)
        self._thread = threading.Thread(target=serve, args=(device, port, self._over.is_set), name="firmware")
        self._thread.start()

    def begin(self, begun_s: float, pace: float) -> None:
        """The recording begins at ``begun_s`` by the wall clock, ``pace`` times as fast as it was filmed."""
        self._begun_s, self._pace = begun_s, pace

    def close(self) -> None:
        """End the firmware."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _heights_mm(self, _device_s: float) -> list[float]:
        """Where the pillars stand now."""
        t_s = max(0.0, (time.time() - self._begun_s) * self._pace)
        row = bisect.bisect_right(self._scans, t_s, key=lambda scan: scan.t_s) - 1
        return [mm for mm in self._scans[max(0, row)].heights_mm if mm is not None]


def pictures_of(recording: Path) -> list[npt.NDArray[np.uint8]]:
    """All pictures of a recording, (height, width, 3) uint8 BGR."""
    video, pictures = cv2.VideoCapture(str(recording / "video.mp4")), []
    while (got := video.read())[0]:
        pictures.append(np.asarray(got[1], np.uint8))
    video.release()
    return pictures


def write_film(film: Path, pictures: Iterable[npt.NDArray[np.uint8]], fps: int) -> None:
    """Write what a fake camera plays over and over, from its beginning whenever a page opens it: Y4M."""
    part, is_begun = film.with_suffix(".part"), False
    with part.open("wb") as out:
        for picture in pictures:
            if not is_begun:
                out.write(b"YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420jpeg\n" % (picture.shape[1], picture.shape[0], fps))
                is_begun = True
            out.write(b"FRAME\n" + cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420).tobytes())
    part.replace(film)


def alive(still: npt.NDArray[np.uint8], count: int = 12, grain: float = 1.5) -> list[npt.NDArray[np.uint8]]:
    """One picture as a sensor gives it again and again, no two the same: grain of so many of 255 codes (sigma)."""
    rng = np.random.default_rng(1)
    noise = (rng.normal(0.0, grain, still.shape) for _ in range(count))
    return [np.clip(still + each, 0, 255).astype(np.uint8) for each in noise]


def filming(playwright: Playwright, film: Path) -> Browser:
    """A browser whose camera plays ``film``."""
    fake = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
    return launched(playwright, *fake, f"--use-file-for-fake-video-capture={film}")


def taken_in_hand(browser: Browser, address: str, script: str = "") -> Page:
    """A phone of its own on which ``address`` is opened and the button touched."""
    context: BrowserContext = browser.new_context(viewport={"width": UPRIGHT[0], "height": UPRIGHT[1]}, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(1000 * WAIT_S)
    if script:
        page.add_init_script(script)
    page.goto(address)
    page.locator("#start").click()
    page.wait_for_selector('#state[data-kind="good"]')
    return page


class Refereed:
    """A referee at work.

    Attributes:
        addresses: what is in each phone's QR code.
        panel: what is in the panel's.
        port: of the page.
    """

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, phones: int) -> None:
        self._process, self._events, self._said = process, folder / "events.jsonl", folder / "said.txt"
        self.until(lambda: f"phone {phones}: http" in self.said)
        self.addresses = re.findall(r"^phone \d: (http\S+)$", self.said, re.MULTILINE)
        self.panel = re.findall(r"panel: (http\S+)$", self.said, re.MULTILINE)[0]
        self.port = int(re.findall(r":(\d+)/", self.panel)[0])

    @property
    def said(self) -> str:
        """What the program has printed for people so far."""
        return self._said.read_text(encoding="utf-8")

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events so far."""
        whole = self._events.read_text(encoding="utf-8").rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]

    @property
    def verdicts(self) -> list[tuple[Any, ...]]:
        """The verdicts on the match so far (see :func:`verdict`)."""
        return [verdict(event) for event in self.events if event["event"] in VERDICTS]

    @property
    def mode(self) -> str:
        """The referee's mode."""
        return str(self._state["mode"])

    @property
    def view(self) -> str:
        """What the referee sees."""
        return str(self._state["view"])

    @property
    def _state(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/state", timeout=WAIT_S) as answer:
            state: dict[str, Any] = json.load(answer)
            return state

    @property
    def begun_s(self) -> float:
        """When the match's time began, by the wall clock."""
        return float(re.findall(r"^begun: (\S+)$", self.said, re.MULTILINE)[-1])

    @property
    def most_mb(self) -> float:
        """The most that the process has held (VmHWM)."""
        return _most_mb(Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii"))

    def until(self, what: Callable[[], object], wait_s: float = WAIT_S) -> bool:
        """Wait for something; whether it came.  Raises AssertionError when the program has ended."""
        end_s = time.monotonic() + wait_s
        while not what():
            assert self._process.poll() is None, f"the referee has ended: {self.said}"
            if time.monotonic() > end_s:
                return False
            time.sleep(LOOK_S)
        return True


@contextmanager
def refereed(profile: Profile, folder: Path, *words: str, phones: int = 1) -> Iterator[Refereed]:
    """The game of a recording refereed through phones; ends with the block."""
    command = [sys.executable, "-c", LAUNCH, "referee", *profile.words, "--phone", str(phones)]
    command += ["--web", "127.0.0.1:0", "--match", str(folder / "match.db"), "--json", *words]
    # Both go to files: nobody reads them all the time, and a full pipe would stop the program.
    with (folder / "said.txt").open("wb") as said, (folder / "events.jsonl").open("wb") as events:
        process = subprocess.Popen(command, stdout=events, stderr=said, cwd=folder, env=_here())  # noqa: S603
    try:
        yield Refereed(process, folder, phones)
    finally:
        process.kill()
        process.wait()


def from_file(profile: Profile, folder: Path) -> tuple[list[dict[str, Any]], float]:
    """The events of the referee who sees the recording itself, with a page, and the most memory that he held, MB."""
    command = [sys.executable, "-c", MEASURED, "referee", *profile.words, "--recording", str(profile.recording)]
    command += ["--match", str(folder / "file.db"), "--json", "--web", "127.0.0.1:0"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=_here(), check=False)  # noqa: S603
    assert done.stdout, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return events, _most_mb(done.stderr)


def _most_mb(status: str) -> float:
    """The most memory that a process has held (VmHWM), of its status as Linux tells it."""
    return 1024 * int(re.findall(r"^VmHWM:\s+(\d+)", status, re.MULTILINE)[-1]) / 1e6


def verdict(event: dict[str, Any]) -> tuple[Any, ...]:
    """The part of an event that must be the same however a table was filmed: without times and probabilities."""
    return (event["event"], event.get("move") or event.get("attempt"), tuple(event.get("cells", ())))


def _here() -> dict[str, str]:
    """The environment in which this very checkout is run."""
    return os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
