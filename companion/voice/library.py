"""Sound files of clips, made by espeak-ng; nothing else calls it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from calibration.writing import whole_file
from companion.errors import CompanionError
from companion.recorder.place import default_store

PROGRAM = "espeak-ng"
WORDS_A_MINUTE = 160
"""Slightly slower than the default of 175, since listeners do not see the speaker."""

LONGEST_S = 10.0
"""Timeout for making a clip, which takes a tenth of a second: a program that takes so long is stuck."""


class VoiceError(CompanionError, OSError):
    """Clips cannot be made."""


@dataclass(frozen=True, slots=True)
class Library:
    """A folder of clips in one voice.

    Attributes:
        folder: the folder, made together with the first clip.
        voice: espeak-ng's name of the voice, e.g. ``en-gb``.
    """

    folder: Path
    voice: str

    def file(self, clip: str) -> Path:
        """The file of ``clip``, which may not exist yet."""
        words = f"{self.voice} {WORDS_A_MINUTE} {clip}"
        return self.folder / f"{hashlib.sha256(words.encode()).hexdigest()[:24]}.wav"

    def make(self, clip: str) -> Path:
        """The file of ``clip``, made if it does not exist.  Raises VoiceError."""
        file = self.file(clip)
        if file.exists():
            return file
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with whole_file(file) as part:
                command = [PROGRAM, "-v", self.voice, "-s", str(WORDS_A_MINUTE), "-w", str(part), "--", clip]
                subprocess.run(command, capture_output=True, check=True, timeout=LONGEST_S)  # noqa: S603
        except FileNotFoundError as error:
            raise VoiceError(f"{PROGRAM} is not installed; apt install {PROGRAM}") from error
        except (OSError, subprocess.SubprocessError) as error:
            raise VoiceError(f"{self.folder}: the sound of {clip!r} cannot be made ({error})") from error
        return file

    def make_all(self, clips: Iterable[str]) -> int:
        """Make all clips that do not exist; return how many were made.  Raises VoiceError."""
        missing = [clip for clip in dict.fromkeys(clips) if not self.file(clip).exists()]
        for clip in missing:
            self.make(clip)
        return len(missing)


def clips_folder(store: Path | None, environment: Mapping[str, str]) -> Path:
    """The folder of clips, beside the match store (None: the default one).  Raises StoreError if none is known."""
    return (store or default_store(environment)).parent / "voice"


def can_make() -> bool:
    """Whether clips can be made on this machine."""
    return shutil.which(PROGRAM) is not None
