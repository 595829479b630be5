"""Draws a verdict on the board: what is where it must not be, what is missing, and how to put it right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from calibration.kit import Kit
from companion.events import Illegal, Unfinished
from companion.restoring import RepairStep, repair_steps
from companion.rules.board import Stack, Table
from companion.rules.game import Game, Position
from companion.rules.notation import format_position
from companion.scene.build import UNKNOWN, bodies, table_scene, tally
from companion.scene.display_kit import complete_kit
from companion.scene.model import Arrow, Body, Cross, Frame, Look, Scene, Tone

Point = tuple[float, float, float]

CROSS_SHARE = 0.7
"""Size of a cross as a fraction of the width of the piece below it."""


def repair_scene(game: Game, position: Position, event: Illegal | Unfinished, kit: Kit | None = None) -> Scene:
    """The board in ``position`` with what ``event`` says about it.

    After an illegal act: pieces as ghosts where they stand now, as outlines where they belong, arrows between them, and
    crosses over surplus pieces.  During a turn: the squares with what is left to do on them.
    """
    dress = complete_kit(game, kit)
    table, title = game.table(position), format_position(game, position)
    if isinstance(event, Unfinished):
        return _unfinished(game, table, event, dress, title)
    frames = tuple(Frame(cell, Tone.WRONG) for cell in event.cells)
    steps = repair_steps(game, event)
    base = table_scene(game, _with_levels(game, table, steps), dress, title, frames)
    ends = dict[RepairStep, Point]()
    for step in steps:
        if step.level is not None:
            base = _levelled(base, step, dress)
        elif step.target:
            base, ends[step] = _missing(game, table, base, step, dress)
    for step in steps:
        if step.source:
            base = _surplus(game, table, base, step, dress, ends.get(step))
    return base


def _with_levels(game: Game, table: Table, steps: Iterable[RepairStep]) -> Table:
    """``table`` with the pillars at their present levels."""
    if table.levels is None:
        return table
    levels = list(table.levels)
    for step in steps:
        if step.now is not None:
            levels[game.layout.index[step.target]] = step.now
    return replace(table, levels=tuple(levels))


def _missing(game: Game, table: Table, base: Scene, step: RepairStep, kit: Kit) -> tuple[Scene, Point]:
    """The scene with outlines of the pieces missing from a square; and their middle."""
    stack = table.stacks[game.layout.index[step.target]]
    kept = stack[: len(stack) - step.count]
    scene, outlines = _restacked(base, step.target, kept, stack[len(kept) :], Look.OUTLINE, kit)
    return scene, _middle(outlines)


def _surplus(game: Game, table: Table, base: Scene, step: RepairStep, kit: Kit, end: Point | None) -> Scene:
    """The scene with ghosts of the pieces that must leave a square, and an arrow to ``end``, or a cross if None."""
    own = table.stacks[game.layout.index[step.source]]
    stack = table.stacks[game.layout.index[step.target]] if step.target else ""
    pieces = stack[len(stack) - step.count :] or _guessed(step)
    kept = own[: len(own) - step.replaced]
    scene, ghosts = _restacked(base, step.source, kept, pieces, Look.GHOST, kit)
    if end is not None:
        return replace(scene, arrows=(*scene.arrows, Arrow(_middle(ghosts), end, Tone.WRONG)))
    return _crossed(scene, ghosts)


def _crossed(scene: Scene, ghosts: list[Body]) -> Scene:
    """The scene with a cross over surplus pieces."""
    return replace(scene, crosses=(*scene.crosses, Cross(*_middle(ghosts), CROSS_SHARE * ghosts[-1].width)))


def _guessed(step: RepairStep) -> Stack:
    """A stack of which only the top piece is known, if that."""
    return UNKNOWN * (step.count - 1) + (step.piece or UNKNOWN)


def _restacked(scene: Scene, cell: str, kept: Stack, pieces: Stack, look: Look, kit: Kit) -> tuple[Scene, list[Body]]:
    """The scene with ``kept`` on ``cell`` and ``pieces``, with this ``look``, on top; and the bodies of ``pieces``."""
    ground = next(ground for ground in scene.grounds if ground.cell == cell)
    stack = bodies(kit, ground, kept + pieces, (look,) * len(pieces))
    others = tuple(body for body in scene.bodies if body.cell != cell)
    standing = tally([body for body in stack if body.look != Look.OUTLINE])
    tallies = tuple(other for other in scene.tallies if other.cell != cell)
    tallies = tallies if standing is None else (*tallies, standing)
    return replace(scene, bodies=(*others, *stack), tallies=tallies), stack[len(kept) :]


def _levelled(scene: Scene, step: RepairStep, kit: Kit) -> Scene:
    """The scene with an arrow from a pillar's top to where it belongs."""
    ground = next(ground for ground in scene.grounds if ground.cell == step.target)
    assert step.level is not None
    assert step.now is not None
    by = (step.level - step.now) * (kit.pillars.step_mm if kit.pillars else kit.board.terrain_step_mm)
    x = ground.x + 0.3 * ground.side
    arrow = Arrow((x, ground.y, ground.z), (x, ground.y, ground.z + by), Tone.WRONG)
    return replace(scene, arrows=(*scene.arrows, arrow))


def _unfinished(game: Game, table: Table, event: Unfinished, kit: Kit, title: str) -> Scene:
    """What is left to do: squares framed; where known, missing pieces as outlines, and surplus ones crossed out."""
    frames = tuple(Frame(cell, Tone.LEFT) for cell in event.cells)
    scene = table_scene(game, table, kit, title, frames)
    for cell, wanted in zip(event.cells, event.stacks, strict=False):
        standing = table.stacks[game.layout.index[cell]]
        common = next((i for i, (a, b) in enumerate(zip(standing, wanted, strict=False)) if a != b), None)
        common = min(len(standing), len(wanted)) if common is None else common
        if common == len(wanted) < len(standing):
            scene, ghosts = _restacked(scene, cell, wanted, standing[common:], Look.GHOST, kit)
            scene = _crossed(scene, ghosts)
        else:
            scene, _ = _restacked(scene, cell, wanted[:common], wanted[common:], Look.OUTLINE, kit)
    return scene


def _middle(stack: list[Body]) -> Point:
    """The middle of some bodies of a stack."""
    low, high = stack[0], stack[-1]
    return high.x, high.y, (low.z + high.top) / 2
