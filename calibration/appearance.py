"""Appearance of one physical set, learned from its enrolment photograph: its own colours, independent of the light.

A reflectance is the linear-light colour (r, g, b) that a surface would show under the light in which white paper
shows (1, 1, 1).  The file is TOML, made by `companion calibrate pieces` and meant to be readable.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from calibration.board_appearance import BoardAppearance, format_board, read_board
from calibration.errors import ProfileError
from calibration.kit import Colour, Kit, indistinguishable
from calibration.printed import printed_appearance
from calibration.srgb import linear_light
from calibration.toml import Table, load

Reflectance = tuple[float, float, float]
GLYPH_RADII, GLYPH_ANGLES = 12, 96
Glyph = bytes
"""A character, (GLYPH_RADII, GLYPH_ANGLES, 2) uint8: its unrolled face (:mod:`vision.glyphs.templates`)."""


@dataclass(frozen=True)
class ColumnAppearance:
    """Reflectances of terrain or pillars: upper faces and sides."""

    top: Reflectance
    side: Reflectance


@dataclass(frozen=True)
class SetAppearance:
    """Reflectances of a set.

    Attributes:
        kit: name of the kit that the set belongs to.
        floor: of an empty square; None where it is not known, or squares have several colours.
        pieces: of each piece letter's upper face.
        rim: how the side of a piece is shaded from its lower to its upper edge, in equal steps: natural log of the
            brightness relative to the side's mean.  It shows where one piece ends and the next begins.
        column: of terrain or pillars; None on a flat board.
        inks: of the character on each piece's face; empty where pieces have none.
        glyphs: each piece's character (:class:`Glyph`); empty where pieces have none, or before enrolment.
        not_found: letters of the pieces that the photograph did not show; they have the colour of pieces to which the
            kit gives the same one, or the kit's.
        alike: pairs of letters of the pieces whose colours are hardly told apart, as in "BG".
        board: of the whole board, where it was learned or squares have several colours.
        ring_mm: radius of the ring round characters, or of a groove; None where there is none, or it is not known.
        inner_ring_mm: of another groove, nearer to the middle.
        black: light that the markers' black showed as a share of their white, r g b, in the photograph from which all
            this was learned; None where that is not known.
    """

    kit: str
    floor: Reflectance | None
    pieces: Mapping[str, Reflectance]
    rim: tuple[float, ...]
    column: ColumnAppearance | None = None
    inks: Mapping[str, Reflectance] = field(default_factory=dict)
    glyphs: Mapping[str, Glyph] = field(default_factory=dict)
    not_found: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    board: BoardAppearance | None = None
    ring_mm: float | None = None
    inner_ring_mm: float | None = None
    black: Reflectance | None = None


RIM_STEPS = 6
FLAT_RIM = (0.0,) * RIM_STEPS
"""The rim of a set that was not enrolled: nothing is known of it."""


def linear(colour: Colour) -> Reflectance:
    """Linear-light value (0…1) of an sRGB colour."""
    r, g, b = linear_light(np.array(colour) / 255).tolist()
    return r, g, b


def nominal_appearance(kit: Kit) -> SetAppearance:
    """The appearance that the kit file itself gives: what to use before a set is enrolled."""
    is_chequered = kit.board.chequer_colour is not None
    pieces = {kind.letter: linear(kind.colour) for kind in kit.pieces}
    inks = {kind.letter: linear(kind.glyph_colour) for kind in kit.pieces if kind.glyph}
    # Where every cell is a pillar, what shows of the mat is paper.
    ground = kit.mat.colour if kit.pillars else kit.board.cell_colour
    return SetAppearance(
        kit=kit.name,
        floor=None if ground is None or is_chequered else linear(ground),
        pieces=pieces,
        rim=FLAT_RIM,
        column=_nominal_column(kit),
        inks=inks,
        board=printed_appearance(kit) if is_chequered else None,
    )


def _nominal_column(kit: Kit) -> ColumnAppearance | None:
    if kit.pillars is not None:
        return ColumnAppearance(linear(kit.pillars.top_colour), linear(kit.pillars.colour))
    if kit.board.terrain_step_mm:
        return ColumnAppearance(linear(kit.board.terrain_colour), linear(kit.board.terrain_colour))
    return None


def format_appearance(appearance: SetAppearance) -> str:
    """The appearance as TOML, which :func:`read_appearance` reads back."""
    tables = {
        "pieces": {letter: _list(value) for letter, value in appearance.pieces.items()},
        "column": {}
        if appearance.column is None
        else {"top": _list(appearance.column.top), "side": _list(appearance.column.side)},
        "inks": {letter: _list(value) for letter, value in appearance.inks.items()},
        "glyphs": {letter: f'"{base64.b64encode(glyph).decode()}"' for letter, glyph in appearance.glyphs.items()},
        "board": {} if appearance.board is None else format_board(appearance.board),
    }
    rows = [
        "# The look of one set, made by `companion calibrate pieces`: linear reflectances relative to white paper.",
        f'kit = "{appearance.kit}"',
        *([] if appearance.floor is None else [f"floor = {_list(appearance.floor)}"]),
        f"rim = {_list(appearance.rim)}",
        *([] if appearance.ring_mm is None else [f"ring_mm = {appearance.ring_mm:.3f}"]),
        *([] if appearance.inner_ring_mm is None else [f"inner_ring_mm = {appearance.inner_ring_mm:.3f}"]),
        *([] if appearance.black is None else [f"black = {_list(appearance.black)}"]),
        *([f"not_found = {json.dumps(appearance.not_found)}"] if appearance.not_found else []),
        *([f"alike = {json.dumps(appearance.alike)}"] if appearance.alike else []),
    ]
    for name, table in tables.items():
        if table:
            rows += ["", f"[{name}]", *(f'"{key}" = {value}' for key, value in table.items())]
    return "\n".join(rows) + "\n"


def read_appearance(path: Path, kit: Kit) -> SetAppearance:
    """The appearance of a TOML file.  Raises ProfileError when it is broken or belongs to another kit."""
    table = Table(load(path), str(path))
    name = table.get("kit", str)
    if name != kit.name:
        raise ProfileError(f"{path}: this set was enrolled for the kit {name!r}, not {kit.name!r}")
    inked = tuple(kind.letter for kind in kit.pieces if kind.glyph)
    appearance = SetAppearance(
        kit=name,
        floor=_reflectance(table, "floor") if table.has("floor") else None,
        pieces=_reflectances(table, "pieces", tuple(kind.letter for kind in kit.pieces)),
        rim=_rim(table),
        column=_read_column(table) if _nominal_column(kit) else None,
        inks=_reflectances(table, "inks", inked),
        glyphs=_glyphs(table, inked),
        not_found=_letters(table, "not_found", kit),
        alike=_letters(table, "alike", kit, 2),
        board=read_board(table.table("board")) if table.has("board") else None,
        ring_mm=table.length("ring_mm") if table.has("ring_mm") else None,
        inner_ring_mm=table.length("inner_ring_mm") if table.has("inner_ring_mm") else None,
        black=_reflectance(table, "black", 0.9) if table.has("black") else None,
    )
    table.done()
    for one, other in indistinguishable(kit.pieces, appearance.pieces):
        raise ProfileError(f"{path}: pieces: {one} and {other} have one colour; enrol the set again")
    return appearance


def appearance_kit(path: Path) -> str:
    """Name of the kit whose set a TOML file describes.  Raises ProfileError when it cannot be read."""
    return Table(load(path), str(path)).get("kit", str)


def _letters(table: Table, key: str, kit: Kit, count: int = 1) -> tuple[str, ...]:
    """Letters of pieces, or, with a ``count`` of 2, pairs of them."""
    texts = tuple(table.get(key, list, []))
    known = {kind.letter for kind in kit.pieces}
    if not all(isinstance(text, str) and len(text) == count and set(text) <= known for text in texts):
        what = "letters" if count == 1 else "pairs of letters"
        raise ProfileError(f"{table.where}: {key}: only {what} of the kit's pieces")
    return texts


def _read_column(table: Table) -> ColumnAppearance:
    column = table.table("column")
    appearance = ColumnAppearance(_reflectance(column, "top"), _reflectance(column, "side"))
    column.done()
    return appearance


def _reflectances(table: Table, key: str, letters: tuple[str, ...]) -> Mapping[str, Reflectance]:
    if not letters:
        return {}
    rows = table.table(key)
    colours = {letter: _reflectance(rows, letter) for letter in letters}
    rows.done()
    return colours


def _glyphs(table: Table, letters: tuple[str, ...]) -> Mapping[str, Glyph]:
    if not letters:
        return {}
    rows = table.table("glyphs")
    glyphs = {}
    for letter in letters:
        try:
            data = base64.b64decode(rows.get(letter, str), validate=True)
        except binascii.Error as error:
            raise ProfileError(f"{rows.where}: {letter} is no character: {error}; enrol the set again") from error
        if len(data) != GLYPH_RADII * GLYPH_ANGLES * 2:
            raise ProfileError(f"{rows.where}: {letter} is no character of this program's size; enrol the set again")
        glyphs[letter] = data
    rows.done()
    return glyphs


def load_appearance(path: Path | None, kit: Kit) -> SetAppearance:
    """The appearance of a set file, or what the kit gives where there is none.  Raises ProfileError."""
    return read_appearance(path, kit) if path else nominal_appearance(kit)


def _list(value: tuple[float, ...]) -> str:
    return "[" + ", ".join(f"{v:.4f}" for v in value) + "]"


def _rim(table: Table) -> tuple[float, ...]:
    return tuple(table.numbers("rim", RIM_STEPS, -3.0, 3.0))


def _reflectance(table: Table, key: str, high: float = 10.0) -> Reflectance:
    r, g, b = table.numbers(key, 3, 0.0, high)
    return r, g, b
