"""Why a picture never comes to rest though nobody is at the board.  Pure: times go in, a word comes out."""

from __future__ import annotations

from dataclasses import dataclass

from vision.differencing import Difference

RESTLESS_S = 10.0
"""Nobody keeps a hand over the board this long without a pause; a picture restless for longer has another cause."""

FLICKER_CODES, SHAKE_CODES = 3.0, 1.0
"""Root mean square change between two frames from which light, or shaking, is the cause: a lamp without visible flicker
makes less than one code, a camera on a firm stand none."""

AVERAGED_FRAMES = 16
"""Number of frames over which the causes are measured."""

HANDS = 4.0
"""Flicker and shaking leave patches of at most this many pieces' area; a larger one is a hand all the same."""


@dataclass(frozen=True, slots=True)
class Instability:
    """How restless a picture has been.

    Attributes:
        still_s: when it was last still.
        flicker, shake: changes by light and by the camera's shaking, in codes: averages over the last frames.
        patch_pieces: area of the largest moving patch, in pieces' areas, averaged likewise.
        why: ``noise``, ``flicker`` or ``shaking`` once it has lasted; else empty.
    """

    still_s: float
    flicker: float = 0.0
    shake: float = 0.0
    patch_pieces: float = 0.0
    why: str = ""


def step(
    instability: Instability, t_s: float, difference: Difference | None, piece_px2: float, *, moving: bool
) -> Instability:
    """The instability after the frame at ``t_s``; ``piece_px2``: a piece's area in pixels of the ``difference``."""
    if not moving or difference is None:
        return Instability(t_s)
    share = 1 / AVERAGED_FRAMES
    flicker = instability.flicker + share * (difference.flicker - instability.flicker)
    shake = instability.shake + share * (difference.shake - instability.shake)
    patch = instability.patch_pieces + share * (difference.patch_px / piece_px2 - instability.patch_pieces)
    lasts = t_s - instability.still_s >= RESTLESS_S
    return Instability(instability.still_s, flicker, shake, patch, _why(flicker, shake, patch) if lasts else "")


def _why(flicker: float, shake: float, patch_pieces: float) -> str:
    """The cause; empty if it may well be a hand."""
    if patch_pieces < HANDS:
        if flicker >= FLICKER_CODES:
            return "flicker"
        if shake >= SHAKE_CODES:
            return "shaking"
    return "noise" if patch_pieces < 1 else ""


def may_be_hand(instability: Instability, difference: Difference, piece_px2: float) -> bool:
    """Whether what moves in this frame of a restless picture is large enough to be a hand."""
    pieces = 1.0 if instability.why == "noise" else HANDS
    return difference.patch_px >= pieces * piece_px2
