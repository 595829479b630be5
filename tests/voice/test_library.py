"""Sound clips made by the real espeak-ng."""

import wave
from pathlib import Path

import pytest

from companion.voice.library import Library, VoiceError, can_make, clips_folder


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "clips", "en-gb")


def test_a_clip_is_a_sound_file_of_a_sensible_length_and_made_once(library: Library) -> None:
    file = library.make("Green to move")
    with wave.open(str(file)) as sound:
        assert 0.4 < sound.getnframes() / sound.getframerate() < 3
    made = file.stat().st_mtime_ns
    assert library.make("Green to move") == file
    assert file.stat().st_mtime_ns == made
    assert [each.name for each in library.folder.iterdir()] == [file.name]


def test_other_words_and_another_voice_are_other_files(library: Library) -> None:
    german = Library(library.folder, "de")
    assert len({library.file("a"), library.file("b"), german.file("a")}) == 3


def test_words_that_look_like_an_option_are_spoken(library: Library) -> None:
    assert library.make("--version").stat().st_size > 10_000


def test_all_are_made_but_only_those_that_are_missing(library: Library) -> None:
    library.make("one")
    assert library.make_all(["one", "two", "two", "three"]) == 2
    assert library.make_all(["one", "two", "three"]) == 0


def test_without_the_program_there_is_one_line(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert not can_make()
    with pytest.raises(VoiceError, match="espeak-ng is not installed; apt install espeak-ng"):
        library.make("one")


def test_an_unknown_voice_and_a_folder_that_cannot_be_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="the sound of 'one' cannot be made"):
        Library(tmp_path, "xx-unheard-of").make("one")
    (tmp_path / "file").touch()
    with pytest.raises(VoiceError, match="cannot be made"):
        Library(tmp_path / "file", "en").make("one")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_clips_lie_beside_the_match_store() -> None:
    assert clips_folder(None, {"STATE_DIRECTORY": "/var/lib/companion"}) == Path("/var/lib/companion/voice")
    assert clips_folder(Path("/srv/m.db"), {}) == Path("/srv/voice")
