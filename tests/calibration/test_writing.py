"""Atomic writing: files are written completely or not at all."""

import errno
import os
from pathlib import Path

import pytest

from calibration import writing
from calibration.writing import whole_file, write_whole


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return an existing file whose content must not get lost."""
    file = tmp_path / "camera.toml"
    file.write_text("before", encoding="utf-8")
    return file


def test_the_new_takes_the_place_of_the_old(kept: Path) -> None:
    """The file is replaced, keeps its mode, and no temporary file is left."""
    kept.chmod(0o640)
    write_whole(kept, "äfter")
    assert kept.read_bytes() == "äfter".encode()
    assert kept.stat().st_mode & 0o777 == 0o640
    assert [*kept.parent.iterdir()] == [kept]


def test_a_new_file_may_be_read_as_any_other(tmp_path: Path) -> None:
    """A new file gets the default mode."""
    plain = tmp_path / "plain"
    plain.touch()
    write_whole(tmp_path / "whole", b"x")
    assert (tmp_path / "whole").stat().st_mode == plain.stat().st_mode


def test_a_disk_that_fails_leaves_the_old(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If writing fails, the old content stays and no temporary file is left."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writing.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(kept, "after")
    assert kept.read_text(encoding="utf-8") == "before"
    assert [*kept.parent.iterdir()] == [kept]


def test_who_is_interrupted_leaves_the_old(kept: Path) -> None:
    """If writing is interrupted, the old content stays and no temporary file is left."""

    def interrupted() -> None:
        with whole_file(kept) as part:
            part.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert kept.read_text(encoding="utf-8") == "before"
    assert [*kept.parent.iterdir()] == [kept]


def test_a_link_stays_one(kept: Path) -> None:
    """Writing to a symbolic link replaces its target."""
    link = kept.parent / "link"
    link.symlink_to(kept)
    write_whole(link, "after")
    assert link.is_symlink()
    assert kept.read_text(encoding="utf-8") == "after"


def test_a_device_is_written_to_as_it_is() -> None:
    """A device is written to directly."""
    write_whole(Path("/dev/null"), b"x")
    assert not Path("/dev/null").is_file()
    with pytest.raises(OSError, match="No space left"):
        write_whole(Path("/dev/full"), b"x")


@pytest.mark.parametrize(
    ("name", "why"), [(".", "Is a directory"), ("none/file", "No such file"), ("a\0b", "its name holds a NUL")]
)
def test_what_cannot_be_written_is_an_error_of_the_system(tmp_path: Path, name: str, why: str) -> None:
    """Errors are raised as OSError without leaving files."""
    with pytest.raises(OSError, match=why):
        write_whole(tmp_path / name, b"x")
    assert [*tmp_path.iterdir()] == []
