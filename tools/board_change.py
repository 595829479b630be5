"""Simulated matches on somebody's own board that changes meanwhile: stains, dust, wear, light.

Every position is read once, with an appearance that follows what changes and with one that does not: prints how many
squares were misread, how likely the truth was, and how long following took.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from calibration.kit import Kit, load_kit
from companion.games import load_game
from companion.simulate.ground import ground, places_mm
from companion.simulate.light import LIGHTS, LINEAR, to_srgb
from companion.simulate.render import Picture, Renderer
from companion.simulate.sprite import Scene
from companion.simulate.standing import seeded, set_up
from companion.simulate.viewpoint import default_camera, default_pose
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.reader import Reader

Array = npt.NDArray[np.float64]
Change = Callable[[Array, Array, Array, float], Array]
"""Linear light (height, width, 3) b g r of the empty table at places x, y mm once ``amount`` (0 to 1) has happened."""

SPOT_MM = 18.0
PRINTED = load_kit("draughts")
OWN = replace(
    PRINTED,
    mat=replace(PRINTED.mat, colour=None, patches=()),
    board=replace(PRINTED.board, cell_colour=None, chequer_colour=None),
)
"""The same board, of which no colour is known."""

MIDDLE_MM = np.mean([PRINTED.centre_mm("d4"), PRINTED.centre_mm("e4")], axis=0)


def _spot(x: Array, y: Array) -> Array:
    """(height, width, 1) 1 on two squares, 0 around them."""
    spot: Array = 1 / (1 + np.exp((np.hypot(x - MIDDLE_MM[0], y - MIDDLE_MM[1]) - SPOT_MM) / 1.5))[..., None]
    return spot


def _ring(table: Array, x: Array, y: Array, amount: float) -> Array:
    far = np.hypot(x - MIDDLE_MM[0], y - MIDDLE_MM[1]) - 20
    return table * (1 - 0.5 * amount * np.exp(-((far / 2.5) ** 2))[..., None] * np.array([1.1, 0.9, 0.7]))


def _wine(table: Array, x: Array, y: Array, amount: float) -> Array:
    return table * (1 - amount * _spot(x, y) * np.array([0.15, 0.75, 0.65]))


def _chalk(table: Array, x: Array, y: Array, amount: float) -> Array:
    share = 0.8 * amount * _spot(x, y)
    return table * (1 - share) + 0.75 * share


def _dust(table: Array, x: Array, y: Array, amount: float) -> Array:
    share = 0.25 * amount * np.clip(0.5 + 0.5 * np.sin(x / 40) * np.cos(y / 55), 0, 1)[..., None]
    return table * (1 - share) + share * np.array([0.40, 0.42, 0.44])


def _wear(table: Array, x: Array, y: Array, amount: float) -> Array:
    share = 0.5 * amount * (np.sin(x / 3.1) * np.sin(y / 2.7) > 0.2)[..., None]
    return table * (1 - share) + share * np.array([0.45, 0.3, 0.2])


def _warm(table: Array, _x: Array, _y: Array, amount: float) -> Array:
    return table * (1 - amount * np.array([0.45, 0.24, 0.06]))


CHANGES: dict[str, Change] = {
    "cup ring": _ring,
    "wine": _wine,
    "chalk": _chalk,
    "dust": _dust,
    "wear": _wear,
    "warm light": _warm,
}
EVERYWHERE = (_warm,)
"""Changes that affect the whole picture, not the board alone."""


def changed(picture: Picture, change: Change, x: Array, y: Array, amount: float) -> Picture:
    """``picture`` (height, width, 3) uint8 BGR with ``amount`` of a ``change``."""
    light = change(LINEAR[picture].astype(np.float64), x, y, amount)
    return np.clip(np.rint(to_srgb(light)), 0, 255).astype(np.uint8)


def photographs(change: Change, plies: int, seed: int) -> list[tuple[Picture, dict[str, str]]]:
    """A picture of the empty board, of the start and of every position of a random match, and the stacks in it."""
    game, camera, rng = load_game("draughts"), default_camera(), random.Random(seed)
    scene = Scene(PRINTED, camera, default_pose(PRINTED, camera), LIGHTS["window"])
    bare, (x, y) = ground(PRINTED, camera, scene.pose, scene.light), places_mm(camera, scene.pose)
    position, taken = game.start(), []
    for number in range(-2, plies):
        stacks = dict(zip(game.layout.cells, game.table(position).stacks, strict=True)) if number > -2 else {}
        amount = min(1.0, max(0, number) / (0.75 * plies))
        table = bare if change in EVERYWHERE else changed(bare, change, x, y, amount)
        setup = set_up(tuple(stacks.get(cell, "") for cell in PRINTED.cells), None, seeded("board", number))
        picture = Renderer(scene, 0, table).picture(setup, number + 2)
        picture = changed(picture, change, x, y, amount) if change in EVERYWHERE else picture
        taken.append((picture, {cell: stack for cell, stack in stacks.items() if stack}))
        if number >= -1:
            position = game.play(position, rng.choice(game.legal_moves(position)))
    return taken


def read(kit: Kit, shots: list[tuple[Picture, dict[str, str]]], *, follows: bool) -> tuple[int, int, float, float]:
    """Squares misread, squares read, nats that the truth lacked to be sure, processor seconds per verdict."""
    (empty, _), (start, layout), *match = shots
    reader = Reader(kit, default_camera(), enrol(start, kit, default_camera(), (), layout, [empty]))
    wrong, squares, nats, spent_s = 0, 0, 0.0, 0.0
    for number, (picture, stacks) in enumerate(match):
        reading = reader.read(Frame(picture, number, float(number)))
        for row, cell in enumerate(reading.cells):
            stack = stacks.get(cell, "")
            state = (len(stack), stack[-1] if stack else None)
            likely = float(reading.log_likelihood[row, reading.states.index(state)])
            wrong, squares, nats = wrong + (likely < np.log(0.5)), squares + 1, nats - likely
        begun_s = time.process_time()
        if follows:
            reader.learn_bare(picture, stacks)
        spent_s += time.process_time() - begun_s
    return wrong, squares, nats, spent_s / len(match)


def main() -> int:
    """Print a row for each change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("changes", nargs="*", metavar="CHANGE", help=f"of {', '.join(CHANGES)} (default: all)")
    parser.add_argument("--plies", type=int, default=24)
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    for name in options.changes or CHANGES:
        shots = photographs(CHANGES[name], options.plies, options.seed)
        kept, followed = (read(OWN, shots, follows=follows) for follows in (False, True))
        print(
            f"{name}: {kept[0]} of {kept[1]} squares misread ({kept[2]:.2f} nats) without following, "
            f"{followed[0]} ({followed[2]:.2f}) with it, {1000 * followed[3]:.0f} ms a verdict",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
