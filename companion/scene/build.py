"""Builds a scene from a table, with the dimensions and colours of a kit."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from calibration.heights import base_heights_mm, floor_mm
from calibration.kit import Colour, Kit, PieceKind
from companion.rules.board import Cell, Layout, Stack, Table
from companion.rules.game import Game, Position
from companion.rules.notation import format_position
from companion.scene.display_kit import NOBODYS, complete_kit, to_hex
from companion.scene.model import Body, Frame, Ground, Look, Scene, Tally, Tone
from companion.scene.view import shaded

UNKNOWN = "?"
"""Letter of a piece that no camera has seen: only its presence is known."""

ROOM_PITCHES = 1.3
"""Room for stacks above the highest ground, in pitches: six draughtsmen, two wooden cubes, a whole pyramid."""

LOW_SHADE = 0.8
"""Brightness of the lowest pillars and terraces relative to the highest, so that heights differ from above."""

DARK, LIGHT = "#1c1a17", "#ffffff"
"""Ink colours on light and on dark pieces."""


def scene(
    game: Game,
    position: Position,
    kit: Kit | None = None,
    moved: Collection[str] = (),
    wrong: Collection[str] = (),
) -> Scene:
    """The board in ``position``, with frames around squares that a move changed or that are wrong."""
    frames = [Frame(cell, Tone.WRONG) for cell in wrong]
    frames += [Frame(cell, Tone.MOVED) for cell in moved if cell not in wrong]
    return table_scene(
        game, game.table(position), complete_kit(game, kit), format_position(game, position), tuple(frames)
    )


def table_scene(game: Game, table: Table, kit: Kit, title: str = "", frames: tuple[Frame, ...] = ()) -> Scene:
    """What stands on ``table``; ``kit`` has every piece of the game (companion.scene.display_kit.complete_kit)."""
    layout = game.layout
    levels = table.levels or layout.terrain
    cells = range(len(layout.cells))
    highest_level = max(max(levels, default=0), 1)
    shades = [LOW_SHADE + (1 - LOW_SHADE) * level / highest_level for level in levels] or [1.0] * len(cells)
    grounds = tuple(_ground(layout, kit, cell, levels[cell] if levels else None, shades[cell]) for cell in cells)
    stacks = [bodies(kit, grounds[cell], table.stacks[cell]) for cell in cells]
    highest = floor_mm(kit, max((*levels, kit.pillars.highest if kit.pillars else 0), default=0))
    known = frozenset(layout.cells)
    return Scene(
        title=title,
        files=layout.files,
        ranks=layout.ranks,
        pitch=min(kit.board.pitch_mm),
        ceiling=highest + ROOM_PITCHES * min(kit.board.pitch_mm),
        mat_colour=to_hex(kit.mat.paper),
        line_colour=to_hex(kit.board.line_colour),
        grounds=grounds,
        bodies=tuple(body for stack in stacks for body in stack),
        tallies=tuple(filter(None, map(tally, stacks))),
        frames=tuple(frame for frame in frames if frame.cell in known),
    )


def _ground(layout: Layout, kit: Kit, cell: Cell, level: int | None, shade: float) -> Ground:
    # Cells that are not square are drawn square, with the smaller pitch: stacks must fit into them either way.
    (file, rank), pitch = layout.places[cell], min(kit.board.pitch_mm)
    x, y = (file - (layout.files - 1) / 2) * pitch, (rank - (layout.ranks - 1) / 2) * pitch
    height = floor_mm(kit, level) if level is not None else 0.0
    name = layout.cells[cell]
    side, colour, top = pitch, kit.ground(name), kit.ground(name)
    if kit.pillars is not None:
        side, colour, top = kit.pillars.side_mm, kit.pillars.colour, kit.pillars.top_colour
    elif level:
        colour = top = kit.board.terrain_colour
    is_raised = bool(level) or kit.pillars is not None
    top_colour = shaded(to_hex(top), shade) if is_raised else to_hex(top)
    return Ground(name, x, y, height, side, to_hex(colour), top_colour, level if is_raised else None)


def bodies(kit: Kit, ground: Ground, stack: Stack, looks: tuple[Look, ...] = ()) -> list[Body]:
    """The pieces of a stack, the lowest first; ``looks`` are those of the upper ones, the others are solid."""
    kinds = [_kind(kit, letter) for letter in stack]
    rises = _rises_mm(kit, stack, kinds)
    styles = (*(Look.SOLID,) * (len(stack) - len(looks)), *looks)
    made = []
    for i, (kind, rise, look) in enumerate(zip(kinds, rises, styles, strict=True)):
        is_hiding = i > 0 and rise == rises[i - 1] and kind.width_mm > kinds[i - 1].width_mm
        made.append(_body(kind, ground, rise, look, is_hiding=is_hiding))
    return made


def _body(kind: PieceKind, ground: Ground, rise_mm: float, look: Look, *, is_hiding: bool) -> Body:
    return Body(
        cell=ground.cell,
        piece=kind.letter,
        shape=kind.shape,
        x=ground.x,
        y=ground.y,
        z=ground.z + rise_mm,
        width=kind.width_mm,
        height=kind.height_mm,
        colour=to_hex(kind.colour),
        mark=kind.glyph or kind.letter,
        ink=to_hex(kind.glyph_colour) if kind.glyph else DARK if _is_light(kind.colour) else LIGHT,
        is_drawn=bool(kind.glyph),
        look=look,
        is_hiding=is_hiding,
    )


def _kind(kit: Kit, letter: str) -> PieceKind:
    if letter != UNKNOWN:
        return kit.piece(letter)
    common = kit.pieces[0]
    return PieceKind(UNKNOWN, common.shape, common.width_mm, common.height_mm, NOBODYS, "", (0, 0, 0))


def _rises_mm(kit: Kit, stack: Stack, kinds: list[PieceKind]) -> tuple[float, ...]:
    if UNKNOWN not in stack:
        return base_heights_mm(kit, stack)
    return tuple(sum(kind.height_mm for kind in kinds[:i]) for i in range(len(kinds)))


def _is_light(colour: Colour) -> bool:
    """Whether dark ink is more legible on it (WCAG 2.1: beyond this luminance black contrasts more than white)."""
    # Without calibration.srgb, which loads numpy: programs that only show boards do not need it.
    linear = [(c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179


def tally(stack: list[Body]) -> Tally | None:
    """The height of a stack of several pieces; None for one piece or none."""
    if len(stack) < 2:
        return None
    widest = max(body.width for body in stack)
    top, low = stack[-1], stack[0]
    z = (max(body.top for body in stack) + low.z) / 2
    letters = "".join(body.piece for body in stack)
    return Tally(top.cell, str(len(stack)), letters, top.x + widest / 2, top.y, z)


def on_cell(scene_: Scene, cell: str) -> Iterator[Body]:
    """The bodies on a square, the lowest first."""
    return (body for body in scene_.bodies if body.cell == cell)
