"""Plays sound files with ALSA's ``aplay``; nothing else calls it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

PROGRAM = "aplay"


class Speaker:
    """Plays one list of files at a time.  Without sound output, playing ends at once."""

    def __init__(self) -> None:
        self._playing: subprocess.Popen[bytes] | None = None

    def play(self, files: Sequence[Path]) -> None:
        """Stop what is being played, and play these files in order."""
        self.stop()
        # Without the program there is no sound; the lights say the same.
        with suppress(OSError):
            self._playing = subprocess.Popen(  # noqa: S603
                [PROGRAM, "-q", *map(str, files)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

    @property
    def is_playing(self) -> bool:
        """Whether the files are still being played."""
        return self._playing is not None and self._playing.poll() is None

    def stop(self) -> None:
        """Stop playing."""
        if self._playing is not None:
            self._playing.kill()
            self._playing.wait()
            self._playing = None
