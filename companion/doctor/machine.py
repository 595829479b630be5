"""Checks of the machine on which the program runs: its clock, disk and sound."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from companion.doctor.check import Check, fault, fine, unused
from companion.voice.library import PROGRAM as ESPEAK
from companion.voice.speaker import PROGRAM as APLAY

BUILT = datetime(2026, 11, 1, tzinfo=UTC)
"""The program is newer than this: a clock that shows an earlier time has lost it."""

MIN_FREE_GB = 0.5
"""Least free disk space: some hundred matches with their pictures, or ten minutes of a recording."""

SLOW_SYNC_MS = 100.0
"""Longest good time to write to the disk: an event is shown once it is on the disk, and a longer wait is felt."""

SYNCS = 3
"""Number of writes, of which the fastest counts: other programs may be writing during one of them."""

PATIENCE_S = 5.0


def check_clock(now: datetime, *, is_synchronised: bool | None) -> Check:
    """Check whether the clock can be right; ``is_synchronised``: what the system reports, None if it is unknown."""
    found = f"{now:%Y-%m-%d %H:%M} UTC"
    if now < BUILT:
        return fault("clock", found, "set the date, or connect the machine to a network; matches are kept with it")
    if is_synchronised is False:
        return fault("clock", f"{found}, not synchronised", "connect the machine to a network, or check the date")
    return fine("clock", found + (", synchronised" if is_synchronised else ""))


def synchronised() -> bool | None:
    """Whether systemd reports a synchronised clock; None if it cannot be asked."""
    try:
        command = ["timedatectl", "show", "--property=NTPSynchronized", "--value"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() == "yes"


def check_disk(folder: Path) -> Check:
    """Check whether matches can be stored in ``folder``, which need not exist yet, and how fast."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    try:
        free_gb = shutil.disk_usage(there).free / 1e9
        with tempfile.NamedTemporaryFile(dir=there, prefix=".companion-", buffering=0) as file:
            sync_ms = 1000 * min(_written_s(file) for _ in range(SYNCS))
    except OSError as error:
        return fault("disk", f"{there}: {error.strerror or error}", "make this folder writable, or give --match FILE")
    found = f"{there}: {free_gb:.1f} GB free, a write takes {sync_ms:.1f} ms"
    if free_gb < MIN_FREE_GB:
        return fault("disk", found, "make room")
    if sync_ms > SLOW_SYNC_MS:
        return fault("disk", found, "use a faster card or disk")
    return fine("disk", found)


def _written_s(file: IO[bytes]) -> float:
    """Time in seconds until one more page of a file is on the disk."""
    file.write(bytes(4096))
    begun = time.perf_counter()
    os.fsync(file.fileno())
    return time.perf_counter() - begun


def check_sound(*, is_wanted: bool, missing: int, devices: Path = Path("/dev/snd")) -> Check:
    """Check whether the voice will be heard; ``missing`` clips have not been made yet."""
    if not is_wanted:
        card = "a sound card" if any(devices.glob("pcm*p")) else "no sound card"
        return unused("sound", f"{card}; no voice is wanted (--voice)")
    if shutil.which(APLAY) is None:
        return fault("sound", f"{APLAY} is not installed", "apt install alsa-utils")
    if not any(devices.glob("pcm*p")):
        return fault("sound", "no sound card", "plug in a loudspeaker (a Raspberry Pi 5 needs one by USB); aplay -l")
    if missing and shutil.which(ESPEAK) is None:
        return fault("sound", f"{missing} sentences have no sound", f"apt install {ESPEAK}, then companion voice")
    if missing:
        return fault("sound", f"{missing} sentences have no sound yet", "run companion voice table.toml")
    return fine("sound", "a sound card, and a sound for every sentence")
