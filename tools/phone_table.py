"""Simulates a phone that films a recorded table: Chromium's fake camera plays pictures to the referee's page."""

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

PHONE_SIZE_PX = (390, 844)
"""Width and height of a phone's page in portrait orientation."""

WAIT_S = 300.0
"""Timeout, long enough for a busy machine."""

POLL_S = 0.05
"""Polling interval."""

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
"""Names of the events that are verdicts on the match."""

LAUNCHER = """
import sys, time
from companion.cli import main
from vision.capture.live import LiveSource
opened = LiveSource.__init__
def report_begin(self, *args, **kwargs):
    opened(self, *args, **kwargs)
    print("begun:", time.time() - time.monotonic() + self._begun_s, file=sys.stderr, flush=True)
LiveSource.__init__ = report_begin
sys.exit(main())
"""
"""Runs the program, and prints to standard error the wall-clock time at which its source's time began."""

FILM_CLOCK = """
window.filmed = 0;
const give = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (wanted) => {
  const stream = await give(wanted);
  window.filmed = (performance.timeOrigin + performance.now()) / 1000;
  return stream;
};
"""
"""JavaScript that stores in ``window.filmed`` when the camera, and so the film, began: wall-clock time in s."""

MEMORY_REPORT = """
import sys
from companion.cli import main
try:
    sys.exit(main())
finally:
    print(open("/proc/self/status").read(), file=sys.stderr, flush=True)
"""
"""Runs the program, and prints its memory to standard error at the end (``ru_maxrss`` would include its parent's)."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A recording with its calibration files: of the camera, and of the appearance of the set."""

    recording: Path
    camera: Path
    appearance: Path

    @property
    def arguments(self) -> list[str]:
        """Arguments of `companion referee` for game, start position and calibration files."""
        info = tomllib.loads((self.recording / "recording.toml").read_text(encoding="utf-8"))
        start = info["start"]
        return [start.split()[0], "--start", start, "--camera", str(self.camera), "--set", str(self.appearance)]

    @property
    def kit(self) -> Kit:
        """The kit of the set that was filmed."""
        info = tomllib.loads((self.recording / "recording.toml").read_text(encoding="utf-8"))
        return load_kit(info["kit"])


def profile_of(recording: Path, work: Path) -> Profile:
    """The profile of a recording: its own files, or files calibrated in ``work`` from the photographs that it names."""
    camera, appearance = recording / "camera.toml", recording / "set.toml"
    if camera.is_file() and appearance.is_file():
        return Profile(recording, camera, appearance)
    info = tomllib.loads((recording / "recording.toml").read_text(encoding="utf-8"))
    lens, folder = recording / info["lens"], work / recording.name
    folder.mkdir()
    camera, appearance = folder / "camera.toml", folder / "set.toml"
    photos = sorted(map(str, lens.glob("*.jpg")))
    _companion("calibrate", "lens", *photos, "--board", str(lens / "charuco.toml"), "-o", str(camera))
    enrol = str(recording / info["enrol"])
    _companion("calibrate", "pieces", info["kit"], "--camera", str(camera), enrol, "-o", str(appearance))
    return Profile(recording, camera, appearance)


def _companion(*arguments: str) -> None:
    """Run a command of the program without its output; raises CalledProcessError if it fails."""
    command = [sys.executable, "-m", "companion.cli", *arguments]
    subprocess.run(command, check=True, env=_environment(), stdout=subprocess.DEVNULL)  # noqa: S603


class Pillars:
    """The pillars of a recording, measured by the real firmware on a pseudo-terminal while the film is played.

    Attributes:
        arguments: of `companion referee`, for the serial port; empty without pillars or recorded sensors.
    """

    def __init__(self, profile: Profile, folder: Path) -> None:
        self.arguments: list[str] = []
        self._begun_s, self._speed, self._is_over = float("inf"), 1.0, threading.Event()
        kit, file = profile.kit, profile.recording / "sensors.csv"
        self._thread = None
        if kit.pillars is None or not file.is_file():
            return
        pillars = kit.pillars
        self._scans = [scan for scan in read_heights(file, kit.cells) if None not in scan.heights_mm]
        ends_mm = (pillars.base_mm + pillars.step_mm * level for level in (pillars.lowest, pillars.highest))
        bench = Bench(self._heights_mm(0.0), *ends_mm, noise_mm=0.0)
        port = Port(folder / "pillars")
        self.arguments = ["--serial", str(folder / "pillars")]
        device = Device(bench, self._heights_mm)
        self._thread = threading.Thread(target=serve, args=(device, port, self._is_over.is_set), name="firmware")
        self._thread.start()

    def begin(self, begun_s: float, speed: float) -> None:
        """Start the recording at the wall-clock time ``begun_s``, at ``speed`` times its original speed."""
        self._begun_s, self._speed = begun_s, speed

    def close(self) -> None:
        """Stop the firmware."""
        self._is_over.set()
        if self._thread is not None:
            self._thread.join()

    def _heights_mm(self, _device_s: float) -> list[float]:
        """The heights of the pillars now, by the wall clock; the device's own time is ignored."""
        t_s = max(0.0, (time.time() - self._begun_s) * self._speed)
        row = bisect.bisect_right(self._scans, t_s, key=lambda scan: scan.t_s) - 1
        return [mm for mm in self._scans[max(0, row)].heights_mm if mm is not None]


def pictures_of(recording: Path) -> list[npt.NDArray[np.uint8]]:
    """All pictures of a recording, (height, width, 3) uint8 BGR."""
    video, pictures = cv2.VideoCapture(str(recording / "video.mp4")), []
    while (read := video.read())[0]:
        pictures.append(np.asarray(read[1], np.uint8))
    video.release()
    return pictures


def write_film(film: Path, pictures: Iterable[npt.NDArray[np.uint8]], fps: int) -> None:
    """Write a Y4M video for the fake camera, which loops it, and restarts it whenever a page opens the camera."""
    partial, has_header = film.with_suffix(".part"), False
    with partial.open("wb") as out:
        for picture in pictures:
            if not has_header:
                out.write(b"YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420jpeg\n" % (picture.shape[1], picture.shape[0], fps))
                has_header = True
            out.write(b"FRAME\n" + cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420).tobytes())
    partial.replace(film)


def noisy_copies(picture: npt.NDArray[np.uint8], count: int = 12, sigma: float = 1.5) -> list[npt.NDArray[np.uint8]]:
    """``count`` copies of a picture with independent Gaussian noise of ``sigma`` codes, as of a still scene."""
    rng = np.random.default_rng(1)
    noise = (rng.normal(0.0, sigma, picture.shape) for _ in range(count))
    return [np.clip(picture + each, 0, 255).astype(np.uint8) for each in noise]


def browser_with_camera(playwright: Playwright, film: Path) -> Browser:
    """A browser whose fake camera plays ``film``."""
    fake = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
    return launched(playwright, *fake, f"--use-file-for-fake-video-capture={film}")


def opened_on_phone(browser: Browser, address: str, script: str = "") -> Page:
    """Open ``address`` on a new simulated phone and start its camera; ``script`` runs before the page's own."""
    context: BrowserContext = browser.new_context(
        viewport={"width": PHONE_SIZE_PX[0], "height": PHONE_SIZE_PX[1]}, locale="en-GB"
    )
    page = context.new_page()
    page.set_default_timeout(1000 * WAIT_S)
    if script:
        page.add_init_script(script)
    page.goto(address)
    page.locator("#start").click()
    page.wait_for_selector('#state[data-kind="good"]')
    return page


class RunningReferee:
    """A referee that runs in another process.

    Attributes:
        addresses: the address in each phone's QR code.
        panel: the address in the panel's QR code.
        port: of the web page.
    """

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, phones: int) -> None:
        self._process, self._events_file, self._stderr_file = process, folder / "events.jsonl", folder / "said.txt"
        self.until(lambda: f"phone {phones}: http" in self.messages)
        self.addresses = re.findall(r"^phone \d: (http\S+)$", self.messages, re.MULTILINE)
        self.panel = re.findall(r"panel: (http\S+)$", self.messages, re.MULTILINE)[0]
        self.port = int(re.findall(r":(\d+)/", self.panel)[0])

    @property
    def messages(self) -> str:
        """The program's output on standard error so far."""
        return self._stderr_file.read_text(encoding="utf-8")

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events so far."""
        complete_lines = self._events_file.read_text(encoding="utf-8").rpartition("\n")[0]
        return [json.loads(line) for line in complete_lines.splitlines() if line.startswith("{")]

    @property
    def verdicts(self) -> list[tuple[Any, ...]]:
        """The verdicts so far, in the form of :func:`verdict`."""
        return [verdict(event) for event in self.events if event["event"] in VERDICTS]

    @property
    def mode(self) -> str:
        """The referee's mode."""
        return str(self._state["mode"])

    @property
    def view(self) -> str:
        """The referee's view of the table: an event state such as ``clear`` or ``no-mat``."""
        return str(self._state["view"])

    @property
    def _state(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/state", timeout=WAIT_S) as answer:
            state: dict[str, Any] = json.load(answer)
            return state

    @property
    def begun_s(self) -> float:
        """Wall-clock time at which the match's time began."""
        return float(re.findall(r"^begun: (\S+)$", self.messages, re.MULTILINE)[-1])

    @property
    def peak_mb(self) -> float:
        """Peak memory of the process in MB (VmHWM)."""
        return _peak_mb(Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii"))

    def until(self, condition: Callable[[], object], wait_s: float = WAIT_S) -> bool:
        """Wait until ``condition`` holds; False on timeout.  Raises AssertionError if the program has ended."""
        end_s = time.monotonic() + wait_s
        while not condition():
            assert self._process.poll() is None, f"the referee has ended: {self.messages}"
            if time.monotonic() > end_s:
                return False
            time.sleep(POLL_S)
        return True


@contextmanager
def running_referee(profile: Profile, folder: Path, *arguments: str, phones: int = 1) -> Iterator[RunningReferee]:
    """Run the referee on a recording's game with phones as cameras; it is killed at the end of the block."""
    command = [sys.executable, "-c", LAUNCHER, "referee", *profile.arguments, "--phone", str(phones)]
    command += ["--web", "127.0.0.1:0", "--match", str(folder / "match.db"), "--json", *arguments]
    # Output goes to files: nothing reads it continuously, and a full pipe would block the program.
    with (folder / "said.txt").open("wb") as messages, (folder / "events.jsonl").open("wb") as events:
        process = subprocess.Popen(command, stdout=events, stderr=messages, cwd=folder, env=_environment())  # noqa: S603
    try:
        yield RunningReferee(process, folder, phones)
    finally:
        process.kill()
        process.wait()


def refereed_from_file(profile: Profile, folder: Path) -> tuple[list[dict[str, Any]], float]:
    """The events of a referee that reads the recording's file, with a web page, and its peak memory in MB."""
    command = [
        sys.executable,
        "-c",
        MEMORY_REPORT,
        "referee",
        *profile.arguments,
        "--recording",
        str(profile.recording),
    ]
    command += ["--match", str(folder / "file.db"), "--json", "--web", "127.0.0.1:0"]
    completed = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=_environment(), check=False)  # noqa: S603
    assert completed.stdout, completed.stderr
    events = [json.loads(line) for line in completed.stdout.splitlines() if line.startswith("{")]
    return events, _peak_mb(completed.stderr)


def _peak_mb(status: str) -> float:
    """Peak memory in MB (VmHWM) from the text of /proc/PID/status."""
    return 1024 * int(re.findall(r"^VmHWM:\s+(\d+)", status, re.MULTILINE)[-1]) / 1e6


def verdict(event: dict[str, Any]) -> tuple[Any, ...]:
    """The part of an event that must not depend on the camera: kind, move and cells; no times, no probabilities."""
    return (event["event"], event.get("move") or event.get("attempt"), tuple(event.get("cells", ())))


def _environment() -> dict[str, str]:
    """Environment variables with which subprocesses import this checkout."""
    return os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
