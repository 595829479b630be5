"""Picture files: supported formats are decoded identically, others give a one-line error."""

import contextlib
import os
import random
import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.errors import ProfileError
from calibration.picture import load_picture


@pytest.fixture
def picture(examples):
    """Return an example photograph."""
    return cv2.imread(str(examples / "photos" / "enrol.jpg"))


@pytest.mark.parametrize("suffix", ["png", "bmp", "tiff"])
def test_files_without_loss_are_read_as_they_are(tmp_path, picture, suffix):
    """Lossless formats are decoded exactly."""
    file = tmp_path / f"a.{suffix}"
    cv2.imwrite(str(file), picture)
    assert (load_picture(file) == picture).all()


def test_gray_and_deep_pictures_become_colour(tmp_path, picture):
    """Grey and 16-bit pictures are converted to 8-bit colour."""
    cv2.imwrite(str(tmp_path / "gray.png"), picture[..., 1])
    assert (load_picture(tmp_path / "gray.png") == picture[..., 1:2]).all()
    cv2.imwrite(str(tmp_path / "deep.png"), picture.astype(np.uint16) * 257)
    assert (load_picture(tmp_path / "deep.png") == picture).all()


@pytest.mark.parametrize("suffix", ["jpg", "png"])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_file_that_is_cut_short(tmp_path, picture, capfd, suffix, share):
    """A truncated file is refused without decoder messages."""
    data = cv2.imencode(f".{suffix}", picture)[1].tobytes()
    file = tmp_path / f"a.{suffix}"
    file.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ProfileError, match=rf"a\.{suffix}: is cut short; take or copy the picture again"):
        load_picture(file)
    assert capfd.readouterr().err == ""


def test_bytes_after_the_end_do_no_harm(tmp_path, picture):
    """Trailing bytes are ignored."""
    file = tmp_path / "a.jpg"
    file.write_bytes(cv2.imencode(".jpg", picture)[1].tobytes() + bytes(500))
    assert load_picture(file).shape == picture.shape


def test_what_is_no_picture(tmp_path):
    """Files that are empty, no pictures, too large or missing are refused."""
    for name, data, said in (
        ("empty.jpg", b"", "is empty"),
        ("text.jpg", b"hello", "is not a picture that can be read; give a JPEG or PNG file"),
        ("huge.png", huge(), "is 200000 x 200000 px; pictures of up to 25 megapixels are read; take it smaller"),
        ("huge.jpg", huge_jpeg(), "is 20000 x 20000 px"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ProfileError, match=f"{name}: {said}"):
            load_picture(tmp_path / name)
    with pytest.raises(ProfileError, match="cannot be read: Is a directory"):
        load_picture(tmp_path)
    with pytest.raises(ProfileError, match=r"none\.jpg: cannot be read: No such file"):
        load_picture(tmp_path / "none.jpg")


@pytest.mark.parametrize("seed", range(40))
def test_a_spoilt_picture_is_read_or_refused_without_a_word_of_the_decoder(tmp_path, picture, capfd, seed):
    """A corrupted picture is either read or refused, without decoder messages."""
    chance = random.Random(seed)
    data = bytearray(cv2.imencode((".jpg", ".png")[seed % 2], picture[:200, :200])[1].tobytes())
    for _ in range(20):
        data[chance.randrange(len(data))] = chance.randrange(256)
    file = tmp_path / "a.jpg"
    file.write_bytes(data)
    with contextlib.suppress(ProfileError):
        load_picture(file)
    assert capfd.readouterr().err == ""


def test_what_never_ends_is_refused_at_once(tmp_path):
    """Pipes and devices are refused instead of being read."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ProfileError, match="is no regular file"):
            load_picture(path)


def huge_jpeg():
    """Return a small JPEG whose header claims 20,000 × 20,000 pixels."""
    data = bytearray(cv2.imencode(".jpg", np.zeros((16, 16, 3), np.uint8))[1].tobytes())
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = struct.pack(">HH", 20_000, 20_000)
    return bytes(data)


def huge():
    """Return a PNG whose header claims 200,000 × 200,000 pixels."""
    head = struct.pack(">IIBBBBB", 200_000, 200_000, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b""))
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)
