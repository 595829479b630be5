"""Playing sound files through ALSA's ``aplay``; nothing else calls it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

PROGRAM = "aplay"


class Speaker:
    """Plays one list of files at a time.  Where there is no sound, playing is over at once."""

    def __init__(self) -> None:
        self._playing: subprocess.Popen[bytes] | None = None

    def play(self, files: Sequence[Path]) -> None:
        """Play these, one after the other, instead of what is played."""
        self.stop()
        # Without the program there is no sound; the lights say the same.
        with suppress(OSError):
            self._playing = subprocess.Popen(  # noqa: S603
                [PROGRAM, "-q", *map(str, files)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

    @property
    def is_playing(self) -> bool:
        """Whether it has not come to the end yet."""
        return self._playing is not None and self._playing.poll() is None

    def stop(self) -> None:
        """Be silent."""
        if self._playing is not None:
            self._playing.kill()
            self._playing.wait()
            self._playing = None
