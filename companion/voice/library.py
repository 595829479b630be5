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
"""A little slower than its usual 175: people do not look at who speaks."""

LONGEST_S = 10.0
"""A clip is made in a tenth of a second; a program that takes so long is stuck."""


class VoiceError(CompanionError, OSError):
    """Clips cannot be made."""


@dataclass(frozen=True, slots=True)
class Library:
    """A folder of clips in one voice.

    Attributes:
        folder: made when the first clip is.
        voice: espeak-ng's name of it, e.g. ``en-gb``.
    """

    folder: Path
    voice: str

    def file(self, clip: str) -> Path:
        """Where the sound of ``clip`` lies, once it has been made."""
        words = f"{self.voice} {WORDS_A_MINUTE} {clip}"
        return self.folder / f"{hashlib.sha256(words.encode()).hexdigest()[:24]}.wav"

    def make(self, clip: str) -> Path:
        """The sound of ``clip``, made if it is not there.  Raises VoiceError."""
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
        """Make all clips; how many were not there.  Raises VoiceError."""
        missing = [clip for clip in dict.fromkeys(clips) if not self.file(clip).exists()]
        for clip in missing:
            self.make(clip)
        return len(missing)


def clips_folder(store: Path | None, environment: Mapping[str, str]) -> Path:
    """Where clips lie: beside the match store, None: the default one.  Raises StoreError when no place is known."""
    return (store or default_store(environment)).parent / "voice"


def can_make() -> bool:
    """Whether clips can be made on this machine."""
    return shutil.which(PROGRAM) is not None
