"""The look of one physical set, learned from its enrolment photograph: colours as the set has them, free of light.

A reflectance is the linear-light colour (r, g, b) that a surface would show under the light in which white paper
shows (1, 1, 1).  The file is TOML, made by `companion calibrate pieces` and meant to be readable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from calibration.errors import ProfileError
from calibration.kit import Colour, Kit
from calibration.toml import Table, load

Reflectance = tuple[float, float, float]


@dataclass(frozen=True)
class SetLook:
    """Reflectances of a set.

    Attributes:
        kit: name of the kit that the set belongs to.
        floor: of an empty square.
        pieces: of each piece letter's upper face.
        rim: how the side of a piece is shaded from its lower to its upper edge, in equal steps: natural log of the
            brightness against the side's mean.  It shows where one piece ends and the next begins.
    """

    kit: str
    floor: Reflectance
    pieces: Mapping[str, Reflectance]
    rim: tuple[float, ...]


RIM_STEPS = 6
FLAT_RIM = (0.0,) * RIM_STEPS
"""Until a set was enrolled nothing is known of its rims."""


def linear(colour: Colour) -> Reflectance:
    """Linear-light value (0…1) of an sRGB colour (IEC 61966-2-1)."""
    r, g, b = (_linear(value / 255) for value in colour)
    return r, g, b


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def nominal_look(kit: Kit) -> SetLook:
    """The look that the kit file itself promises: what to use before a set was enrolled."""
    pieces = {kind.letter: linear(kind.colour) for kind in kit.pieces}
    return SetLook(kit.name, linear(kit.board.cell_colour), pieces, FLAT_RIM)


def format_look(look: SetLook) -> str:
    """The look as TOML, which :func:`read_look` reads back."""
    rows = "".join(f'"{letter}" = {_list(value)}\n' for letter, value in look.pieces.items())
    return (
        "# The look of one set, made by `companion calibrate pieces`: linear reflectances relative to white paper.\n"
        f'kit = "{look.kit}"\nfloor = {_list(look.floor)}\nrim = {_list(look.rim)}\n\n[pieces]\n{rows}'
    )


def read_look(path: Path, kit: Kit) -> SetLook:
    """The look of a TOML file.  Raises ProfileError when it is broken or belongs to another kit."""
    table = Table(load(path), str(path))
    name = table.get("kit", str)
    if name != kit.name:
        raise ProfileError(f"{path}: this set was enrolled for the kit {name!r}, not {kit.name!r}")
    floor = _reflectance(table, "floor")
    pieces = table.table("pieces")
    colours = {kind.letter: _reflectance(pieces, kind.letter) for kind in kit.pieces}
    look = SetLook(name, floor, colours, _rim(table))
    pieces.done()
    table.done()
    return look


def load_look(path: Path | None, kit: Kit) -> SetLook:
    """The look of a set file, or what the kit promises where there is none.  Raises ProfileError."""
    return read_look(path, kit) if path else nominal_look(kit)


def _list(value: tuple[float, ...]) -> str:
    return "[" + ", ".join(f"{v:.4f}" for v in value) + "]"


def _rim(table: Table) -> tuple[float, ...]:
    values = table.get("rim", list)
    if len(values) != RIM_STEPS or not all(isinstance(v, int | float) and -3 < v < 3 for v in values):
        raise ProfileError(f"{table.where}: rim must be {RIM_STEPS} numbers between -3 and 3")
    return tuple(float(v) for v in values)


def _reflectance(table: Table, key: str) -> Reflectance:
    values = table.get(key, list)
    if len(values) != 3 or not all(isinstance(v, int | float) and 0 <= v < 10 for v in values):
        raise ProfileError(f"{table.where}: {key} must be three numbers [r, g, b], 0 or more")
    return float(values[0]), float(values[1]), float(values[2])
