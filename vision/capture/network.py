"""A camera at an address: RTSP, or MJPEG over HTTP, by OpenCV's own FFmpeg.  No name or message holds a password."""

from __future__ import annotations

import netrc
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from vision.capture.frames import SourceLost

SCHEMES = ("rtsp", "rtsps", "http", "https")

FIRST_S = 5.0
"""How long a camera may take to open the first time: many send a key frame only every two seconds."""

AGAIN_S = 1.5
"""The same when it is opened again: the kernel repeats an unanswered SYN after 1 s, then after 3 s, so a camera that is
back answers within this or the next try.  A camera that took longer the first time is given twice what it took."""

READ_S = 1.0
"""How long after the last picture the connection is given up: the camera counts as gone by then."""

LIVE_S = 0.02
"""A picture that had to be waited for longer has just been taken; those that come faster had been buffered."""

LIVE_WITHIN_S = 1.0
"""How long such a picture is looked for: in a stream faster than 1 / LIVE_S pictures a second there is none."""

ANALYSIS_S = (0.1, 5.0)
"""How long FFmpeg may analyse a stream before it is open, one after the other.  Cameras whose RTSP description says
what they send are open at once with the first; else it takes until the next key frame."""

FFMPEG = "rtsp_transport;tcp|fflags;nobuffer|flags;low_delay|analyzeduration;{:.0f}"
"""Nothing is lost on the way, and nothing buffered; what the user has set takes precedence."""

OPTIONS = "OPENCV_FFMPEG_CAPTURE_OPTIONS"
"""The only way to pass options through OpenCV to FFmpeg: for the whole process, so it must not stay set for files."""

_OPENING = threading.Lock()

LOCKS = "chooses exposure, white balance and focus by itself: hold them on its own page"

SECRET = re.compile("us(e)?r|login|pass|pwd|auth|token|key|secret|account", re.IGNORECASE)
"""Names of query parameters in which cameras take user and password."""

Capture = Any
"""What ``cv2.VideoCapture`` gives, or something that behaves like it."""

Open = Callable[[str, Sequence[int], float], Capture]


def is_address(device: int | str) -> bool:
    """Whether ``--device`` names a camera in the network.  Raises ValueError for an address that cannot be one."""
    if isinstance(device, int) or "://" not in device:
        return False
    parts = urlsplit(device)
    if parts.scheme.lower() not in SCHEMES:
        raise ValueError(f"no camera is reached by {parts.scheme}://; write one of {', '.join(SCHEMES)}")
    if not parts.hostname or parts.port == 0:
        raise ValueError("the address names no camera; write it as rtsp://HOST/PATH or http://HOST/PATH")
    return True


def public(address: str) -> str:
    """The address as people may read it: without user, password, and query, in which some cameras take them."""
    return urlunsplit(urlsplit(address)._replace(netloc=_host_and_port(address), query="", fragment=""))


def without_login(address: str) -> str:
    """The address as it may be written into a file: without user, password, and what looks like one in the query.

    The path of a device stays as it is.
    """
    if not is_address(address):
        return address
    parts = urlsplit(address)
    kept = "&".join(pair for pair in parts.query.split("&") if not SECRET.search(pair.partition("=")[0]))
    return urlunsplit(parts._replace(netloc=_host_and_port(address), query=kept))


def with_login(address: str, file: str | None = None) -> str:
    """The address with user and password from the user's ``.netrc`` (or ``file``), where it has none of its own.

    Raises SourceLost when that file cannot be used.
    """
    parts = urlsplit(address)
    if parts.username is not None:
        return address
    try:
        found = netrc.netrc(file).authenticators(parts.hostname or "")
    except FileNotFoundError:
        return address
    except (OSError, UnicodeDecodeError, netrc.NetrcParseError) as error:
        why = getattr(error, "msg", None) or getattr(error, "strerror", None) or "is no text"
        raise SourceLost(f"camera {public(address)}: its password cannot be looked up in .netrc ({why})") from None
    if found is None:
        return address
    user, _, password = found
    login = f"{quote(user, safe='')}:{quote(password or '', safe='')}"
    return urlunsplit(parts._replace(netloc=f"{login}@{_host_and_port(address)}"))


def open_capture(address: str, options: Sequence[int], analysis_s: float) -> Capture:
    """The capture of a network stream, which FFmpeg may analyse for ``analysis_s`` first."""
    # Both would log every second that nothing answers; ours say it once.
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    with _OPENING:
        before, level = os.environ.get(OPTIONS), cv2.utils.logging.getLogLevel()
        os.environ[OPTIONS] = before or FFMPEG.format(1e6 * analysis_s)
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)
        try:
            return cv2.VideoCapture(address, cv2.CAP_FFMPEG, list(options))
        finally:
            cv2.utils.logging.setLogLevel(level)
            if before is None:
                del os.environ[OPTIONS]


class NetworkCamera:
    """The camera at ``address``, which may hold user and password; they are never shown."""

    def __init__(
        self, address: str, camera: Camera, make: Open = open_capture, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``camera``: gives the wanted picture size; ``make``: opens a capture; ``clock``: seconds."""
        self.name = f"camera {public(address)}"
        self._address, self._camera, self._make, self._clock = address, camera, make, clock
        self._patience_s = FIRST_S
        self._analyses_s: tuple[float, ...] = ANALYSIS_S
        self._capture: Capture | None = None

    def open(self) -> tuple[str, ...]:
        """Connect, and skip what the server had buffered.  Raises SourceLost."""
        begun_s = self._clock()
        self._capture = self._connected()
        try:
            self._check_size(self._live())
        except SourceLost:
            self.close()
            raise
        self._patience_s = max(AGAIN_S, 2 * (self._clock() - begun_s))
        return (LOCKS,)

    def grab(self) -> npt.NDArray[np.uint8]:
        """The next picture, (height, width, 3) uint8 BGR.  Raises SourceLost."""
        if self._capture is None:
            raise SourceLost(f"{self.name}: is not open")
        done, image = self._capture.read()
        if not done or image is None:
            raise SourceLost(f"{self.name}: gives no more pictures; is it still on, and in the network?")
        return np.asarray(image, np.uint8)

    def close(self) -> None:
        """Hang up."""
        if self._capture is not None:
            self._capture.release()
            self._capture = None

    def _connected(self) -> Capture:
        """The stream, opened in the way that worked before.  Raises SourceLost."""
        timeouts = [
            cv2.CAP_PROP_OPEN_TIMEOUT_MSEC,
            1000 * self._patience_s,
            cv2.CAP_PROP_READ_TIMEOUT_MSEC,
            1000 * READ_S,
        ]
        # Several threads would decode a picture each, and hand out the first of them that much later.
        options = [*map(round, timeouts), cv2.CAP_PROP_N_THREADS, 1]
        address = with_login(self._address)
        for analysis_s in self._analyses_s:
            capture = self._make(address, options, analysis_s)
            if capture.isOpened():
                self._analyses_s = (analysis_s,)
                return capture
        raise SourceLost(f"{self.name}: cannot be opened; is it on, and are address, user and password right?")

    def _live(self) -> npt.NDArray[np.uint8]:
        """The first picture that had to be waited for, or that comes after LIVE_WITHIN_S."""
        begun_s = asked_s = self._clock()
        while True:
            image = self.grab()
            now_s = self._clock()
            if now_s - asked_s >= LIVE_S or now_s - begun_s >= LIVE_WITHIN_S:
                return image
            asked_s = now_s

    def _check_size(self, image: npt.NDArray[np.uint8]) -> None:
        height, width = image.shape[:2]
        if (width, height) != (self._camera.width_px, self._camera.height_px):
            raise SourceLost(
                f"{self.name}: gives pictures of {width} x {height} px, the camera file is for "
                f"{self._camera.width_px} x {self._camera.height_px} px; choose that size on the camera's own page"
            )


def _host_and_port(address: str) -> str:
    """Host and port of an address."""
    return urlsplit(address).netloc.rpartition("@")[2]
