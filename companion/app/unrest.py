"""Why a picture never comes to rest though nobody is at the board.  Pure: times come in, a word comes out."""

from __future__ import annotations

from dataclasses import dataclass

from vision.differencing import Difference

RESTLESS_S = 10.0
"""Nobody's hand is over the board so long without a pause; a picture that is, is restless for another reason."""

FLICKER_CODES, SHAKE_CODES = 3.0, 1.0
"""Root mean square change between two frames from which light, or shake, is the reason: a lamp that is not seen to
flicker makes less than one code, a camera on a firm stand none."""

AVERAGED_FRAMES = 16
"""Frames over which the reasons are measured."""

HANDS = 4.0
"""Flicker and shake leave patches of so many pieces' area at most; a larger one is a hand all the same."""


@dataclass(frozen=True, slots=True)
class Unrest:
    """How restless a picture has been.

    Attributes:
        still_s: when it was still last.
        flicker, shake: changes by light and by the camera's shake, in codes: averages over the last frames.
        patch_pieces: area of the largest patch that moves, in pieces' areas: likewise.
        why: ``noise``, ``flicker`` or ``shaking`` once it has lasted; else empty.
    """

    still_s: float
    flicker: float = 0.0
    shake: float = 0.0
    patch_pieces: float = 0.0
    why: str = ""


def step(unrest: Unrest, t_s: float, difference: Difference | None, piece_px2: float, *, moving: bool) -> Unrest:
    """The unrest after the frame at ``t_s``; ``piece_px2``: a piece's area in pixels of the ``difference``."""
    if not moving or difference is None:
        return Unrest(t_s)
    share = 1 / AVERAGED_FRAMES
    flicker = unrest.flicker + share * (difference.flicker - unrest.flicker)
    shake = unrest.shake + share * (difference.shake - unrest.shake)
    patch = unrest.patch_pieces + share * (difference.patch_px / piece_px2 - unrest.patch_pieces)
    lasts = t_s - unrest.still_s >= RESTLESS_S
    return Unrest(unrest.still_s, flicker, shake, patch, _why(flicker, shake, patch) if lasts else "")


def _why(flicker: float, shake: float, patch_pieces: float) -> str:
    """The reason; empty where it may well be a hand."""
    if patch_pieces < HANDS:
        if flicker >= FLICKER_CODES:
            return "flicker"
        if shake >= SHAKE_CODES:
            return "shaking"
    return "noise" if patch_pieces < 1 else ""


def may_be_hand(unrest: Unrest, difference: Difference, piece_px2: float) -> bool:
    """Whether what moves in this frame of a restless picture is large enough for a hand."""
    pieces = 1.0 if unrest.why == "noise" else HANDS
    return difference.patch_px >= pieces * piece_px2
