"""Sound output redirected to a file."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def heard_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function for the number of bytes sent to ALSA, as 16-bit samples."""
    home, sound = tmp_path / "home", tmp_path / "sound.raw"
    home.mkdir()
    plugin = f'pcm.!default {{ type file slave.pcm null file "{sound}" format raw }}\n'
    (home / ".asoundrc").write_text(plugin, encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    return lambda: sound.stat().st_size if sound.exists() else 0
