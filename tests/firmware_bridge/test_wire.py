"""The codec: frames exactly as in docs/protocol.md, and robustness against any input."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.firmware import wire

DOC = Path(__file__).parent.parent.parent / "docs" / "protocol.md"


def _value(text: str, like: object) -> object:
    """Parse a documented field as the type of ``like``."""
    if isinstance(like, bytes):
        return bytes.fromhex(text)
    return tuple(map(int, text.split(","))) if isinstance(like, tuple) else int(text)


def vectors() -> list[tuple[object, int, bytes]]:
    """Return the message, sequence number and frame of each example in the documentation."""
    block = re.search(r"```vectors\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    lines = block[1].splitlines()
    found = []
    for told, frame in zip(lines[::2], lines[1::2], strict=True):
        name, seq, *fields = told.split()
        texts = dict(field.split("=") for field in fields)
        kind = getattr(wire, name)
        decoded = wire.decode(bytes.fromhex(frame)[:-1])
        assert decoded is not None
        likes = dict(zip(kind._fields, decoded[1], strict=True))
        message = kind(**{key: _value(text, likes[key]) for key, text in texts.items()})
        found.append((message, int(seq.removeprefix("seq=")), bytes.fromhex(frame)))
    return found


VECTORS = vectors()
ALL = b"".join(frame for _, _, frame in VECTORS)
"""All example frames concatenated."""

HEARD = [(seq, message) for message, seq, _ in VECTORS]


def test_every_kind_has_an_example() -> None:
    assert [type(message) for message, _, _ in VECTORS] == [message for message, _, _ in wire.KINDS.values()]


@pytest.mark.parametrize(("message", "seq", "frame"), VECTORS, ids=[type(v[0]).__name__ for v in VECTORS])
def test_frames_are_as_documented(message: tuple, seq: int, frame: bytes) -> None:
    assert wire.encode(message, seq) == frame
    assert wire.Decoder().feed(frame) == [(seq, message)]


def test_cobs_by_its_definition() -> None:
    """The reference encodes byte by byte as in the COBS paper, the codec run by run."""
    rng = random.Random(1)
    for _ in range(2000):
        data = bytes(rng.choice((0, 0, 1, 255, rng.randrange(256))) for _ in range(rng.randrange(wire.MAX_PACKET)))
        expected, start = bytearray([1]), 0
        for byte in data:
            if byte:
                expected.append(byte)
                expected[start] += 1
            else:
                start = len(expected)
                expected.append(1)
        assert wire.stuff(data) == bytes(expected)
        assert wire.unstuff(wire.stuff(data)) == data


@given(st.lists(st.integers(0, len(ALL)), max_size=12))
def test_any_split_gives_the_same_messages(cuts: list[int]) -> None:
    decoder, heard, before = wire.Decoder(), [], 0
    for cut in [*sorted(cuts), len(ALL)]:
        heard += decoder.feed(ALL[before:cut])
        before = cut
    assert heard == HEARD
    assert decoder.bad == 0


@given(st.binary(max_size=600), st.lists(st.integers(0, 600), max_size=4))
def test_garbage_never_raises_and_the_next_good_frame_is_found(garbage: bytes, cuts: list[int]) -> None:
    """The result and the count of bad frames do not depend on how the stream is split."""
    data = garbage + b"\0" + ALL
    whole, parts = wire.Decoder(), wire.Decoder()
    heard, before = [], 0
    for cut in [*sorted(cuts), len(data)]:
        heard += parts.feed(data[before:cut])
        before = cut
    assert whole.feed(data)[-len(HEARD) :] == HEARD
    assert heard[-len(HEARD) :] == HEARD
    assert parts.bad == whole.bad


@given(st.sampled_from(VECTORS), st.data())
def test_a_flipped_or_lost_byte_is_noticed(vector: tuple[tuple, int, bytes], data: st.DataObject) -> None:
    """A damaged frame is never decoded."""
    _, _, frame = vector
    at = data.draw(st.integers(0, len(frame) - 2))
    flip = data.draw(st.integers(0, 255))
    damaged = frame[:at] + (bytes([frame[at] ^ flip]) if flip else b"") + frame[at + 1 :]
    assert wire.Decoder().feed(damaged) == []


def test_an_endless_frame_takes_no_memory() -> None:
    decoder = wire.Decoder()
    for _ in range(100):
        decoder.feed(b"\x07" * 1000)
    assert len(decoder._rest) <= wire.MAX_PACKET + 2
    assert decoder.feed(b"\0" + ALL) == HEARD
    assert decoder.bad == 1


def test_a_longer_body_is_a_newer_minor_version() -> None:
    """The known fields are decoded."""
    packet = wire.unstuff(wire.encode(wire.Hello(1, 7), 3)[:-1])
    assert packet is not None
    longer = packet[:-4] + b"more"
    frame = wire.stuff(longer + wire.crc32(longer).to_bytes(4, "little"))
    assert wire.decode(frame) == (3, wire.Hello(1, 7))


def test_an_unknown_kind_is_passed_over() -> None:
    packet = b"\x7e\x01body"
    frame = wire.stuff(packet + wire.crc32(packet).to_bytes(4, "little")) + b"\0"
    decoder = wire.Decoder()
    assert decoder.feed(frame + ALL) == HEARD
    assert decoder.bad == 1
