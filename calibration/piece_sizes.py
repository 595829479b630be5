"""The sizes of a set's pieces as somebody gives them: one for all pieces that are alike in shape and size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from calibration.errors import ProfileError
from calibration.kit import Kit, PieceKind

Size = tuple[float, float | None]
"""Width and height in mm; a cube is as high as it is wide."""

NARROWEST_SHARE = 0.2
"""Least width of a piece, as a share of its square's side: the narrowest of the program's own kits has 0.34; widths
given in centimetres have a tenth or less."""

LOWEST_MM, TALLEST_MM = 1.0, 100.0
"""No piece is lower, and the tallest of the program's own kits is half as tall."""


@dataclass(frozen=True, slots=True)
class PieceSize:
    """The size of the pieces of these ``letters``, all of one ``shape``."""

    letters: str
    shape: str
    width_mm: float
    height_mm: float


def piece_sizes(kinds: Sequence[PieceKind]) -> tuple[PieceSize, ...]:
    """The distinct sizes of pieces, in the order of the first piece of each."""
    letters: dict[tuple[str, float, float], str] = {}
    for kind in kinds:
        key = kind.shape, kind.width_mm, kind.height_mm
        letters[key] = letters.get(key, "") + kind.letter
    return tuple(PieceSize(named, *key) for key, named in letters.items())


def with_sizes(kit: Kit, told: Mapping[str, Size]) -> Kit:
    """The kit with pieces of the given sizes, by their letters; "" stands for all pieces.

    Raises ProfileError for letters that the kit lacks, and for lengths that no piece on its squares has.
    """
    pieces = kit.pieces
    for letters, size in told.items():
        for letter in letters:
            if letter not in {kind.letter for kind in pieces}:
                raise ProfileError(f"pieces {letters}: the kit has {', '.join(kind.letter for kind in pieces)}")
        if not letters and len(piece_sizes(pieces)) > 1:
            named = ", ".join(f"{each.letters}=…" for each in piece_sizes(pieces))
            raise ProfileError(f"pieces have several sizes: say of which pieces, {named}")
        pieces = tuple(
            _resized(kit, kind, letters, size) if kind.letter in letters or not letters else kind for kind in pieces
        )
    return with_pieces(kit, pieces)


def with_pieces(kit: Kit, pieces: tuple[PieceKind, ...]) -> Kit:
    """The kit with its pieces in other sizes.

    The rise of nesting pyramids over each other grows in proportion to their height: those of one make have one form.
    """
    if kit.stacking is None:
        return replace(kit, pieces=pieces)
    taller = sum(kind.height_mm for kind in pieces) / sum(kind.height_mm for kind in kit.pieces)
    stacking = replace(kit.stacking, tower_rise_mm=round(kit.stacking.tower_rise_mm * taller, 2))
    return replace(kit, pieces=pieces, stacking=stacking)


def _resized(kit: Kit, kind: PieceKind, letters: str, size: Size) -> PieceKind:
    """A piece of the given size.  Raises ProfileError."""
    named, pitch_mm = f"pieces {letters}" if letters else "pieces", min(kit.board.pitch_mm)
    width_mm, height_mm = size[0], size[0] if kind.shape == "cube" else size[1]
    if height_mm is None:
        raise ProfileError(f"{named}: give width and height, such as 30,8.5")
    least_mm = NARROWEST_SHARE * pitch_mm
    if not least_mm <= width_mm <= pitch_mm:
        raise ProfileError(
            f"{named}: {width_mm:g} mm wide does not suit the squares; give {least_mm:.0f} to {pitch_mm:.0f} mm"
        )
    if not LOWEST_MM <= height_mm <= TALLEST_MM:
        raise ProfileError(f"{named}: {height_mm:g} mm high is no piece; give {LOWEST_MM:.0f} to {TALLEST_MM:.0f} mm")
    return replace(kind, width_mm=width_mm, height_mm=height_mm)
