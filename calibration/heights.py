"""How high pieces stand, from a kit alone: on pillars and terraces, and on each other."""

from __future__ import annotations

from calibration.kit import Kit, PieceKind


def floor_mm(kit: Kit, level: int | None) -> float:
    """Height above the mat of what the pieces of a cell stand on, at this pillar or terrain level."""
    if kit.pillars is not None:
        return kit.pillars.base_mm + (level or 0) * kit.pillars.step_mm
    return (level or 0) * kit.board.terrain_step_mm


def base_heights_mm(kit: Kit, stack: str) -> tuple[float, ...]:
    """Height of each piece's base over the floor of its cell, bottom first."""
    kinds = [kit.piece(letter) for letter in stack]
    rises, base = [], 0.0
    for i, kind in enumerate(kinds):
        if i > 0:
            base += _rise_mm(kit, kinds[i - 1], kind)
        rises.append(base)
    return tuple(rises)


def _rise_mm(kit: Kit, below: PieceKind, above: PieceKind) -> float:
    if kit.stacking is None:
        return below.height_mm
    return kit.stacking.keep_rise_mm if above.width_mm > below.width_mm else kit.stacking.tower_rise_mm


def shows_top(kit: Kit, stack: str) -> bool:
    """Whether anything is seen of the uppermost piece: a pyramid may lie wholly within the one below it.

    With the kit's single rise for all sizes, the smallest one does so in the largest.
    """
    if kit.stacking is None or len(stack) < 2:
        return True
    below, above = kit.piece(stack[-2]), kit.piece(stack[-1])
    rise_mm = _rise_mm(kit, below, above)
    width_there_mm = below.width_mm * (1 - rise_mm / below.height_mm)
    return rise_mm + above.height_mm > below.height_mm or above.width_mm > width_there_mm
