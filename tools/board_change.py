"""Simulated matches on a user's own board that changes during play: stains, dust, wear, light.

Every position is read once with an appearance model that adapts to the changes, and once with one that does not.
Prints how many squares were misread, how likely the ground truth was, and how long adapting took.
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
from companion.simulate.placement import make_rng, set_up
from companion.simulate.render import Picture, Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, default_pose
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.reader import Reader

Array = npt.NDArray[np.float64]
Change = Callable[[Array, Array, Array, float], Array]
"""``change(table, x, y, amount)``: the empty table (height, width, 3), linear light in BGR order, after ``amount``
(0 to 1) of a change; ``x``, ``y`` (height, width) are the pixels' positions on the table in mm."""

SPOT_MM = 18.0
"""Radius of a stain."""

PRINTED = load_kit("draughts")
OWN_KIT = replace(
    PRINTED,
    mat=replace(PRINTED.mat, colour=None, patches=()),
    board=replace(PRINTED.board, cell_colour=None, chequer_colour=None),
)
"""The same board without known colours, as for a user's own board."""

MIDDLE_MM = np.mean([PRINTED.centre_mm("d4"), PRINTED.centre_mm("e4")], axis=0)
"""Centre of the stains: between the squares d4 and e4."""


def _spot(x: Array, y: Array) -> Array:
    """(height, width, 1) soft mask: 1 within SPOT_MM of the middle between two squares, 0 farther away."""
    spot: Array = 1 / (1 + np.exp((np.hypot(x - MIDDLE_MM[0], y - MIDDLE_MM[1]) - SPOT_MM) / 1.5))[..., None]
    return spot


def _ring(table: Array, x: Array, y: Array, amount: float) -> Array:
    distance_mm = np.hypot(x - MIDDLE_MM[0], y - MIDDLE_MM[1]) - 20
    return table * (1 - 0.5 * amount * np.exp(-((distance_mm / 2.5) ** 2))[..., None] * np.array([1.1, 0.9, 0.7]))


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
    """``picture`` (height, width, 3) uint8 BGR after ``amount`` of a ``change``."""
    light = change(LINEAR[picture].astype(np.float64), x, y, amount)
    return np.clip(np.rint(to_srgb(light)), 0, 255).astype(np.uint8)


def photographs(change: Change, plies: int, seed: int) -> list[tuple[Picture, dict[str, str]]]:
    """Render the empty board, the start position and a random match of ``plies`` positions; each with its stacks."""
    game, camera, rng = load_game("draughts"), default_camera(), random.Random(seed)
    scene = Scene(PRINTED, camera, default_pose(PRINTED, camera), LIGHTS["window"])
    empty_table, (x, y) = ground(PRINTED, camera, scene.pose, scene.light), places_mm(camera, scene.pose)
    position, photos = game.start(), []
    for ply in range(-2, plies):
        stacks = dict(zip(game.layout.cells, game.table(position).stacks, strict=True)) if ply > -2 else {}
        amount = min(1.0, max(0, ply) / (0.75 * plies))
        table = empty_table if change in EVERYWHERE else changed(empty_table, change, x, y, amount)
        setup = set_up(tuple(stacks.get(cell, "") for cell in PRINTED.cells), None, make_rng("board", ply))
        picture = Renderer(scene, 0, table).picture(setup, ply + 2)
        picture = changed(picture, change, x, y, amount) if change in EVERYWHERE else picture
        photos.append((picture, {cell: stack for cell, stack in stacks.items() if stack}))
        if ply >= -1:
            position = game.play(position, rng.choice(game.legal_moves(position)))
    return photos


def read(kit: Kit, shots: list[tuple[Picture, dict[str, str]]], *, follows: bool) -> tuple[int, int, float, float]:
    """Read a rendered match; ``follows``: adapt the appearance after each position.

    Returns squares misread (truth below p = 0.5), squares read, the summed negative log-likelihood of the truth in
    nats, and the processor seconds per position spent on adapting.
    """
    (empty, _), (start, layout), *match = shots
    reader = Reader(kit, default_camera(), enrol(start, kit, default_camera(), (), layout, [empty]))
    wrong, squares, nats, cpu_s = 0, 0, 0.0, 0.0
    for ply, (picture, stacks) in enumerate(match):
        reading = reader.read(Frame(picture, ply, float(ply)))
        for row, cell in enumerate(reading.cells):
            stack = stacks.get(cell, "")
            state = (len(stack), stack[-1] if stack else None)
            log_p = float(reading.log_likelihood[row, reading.states.index(state)])
            wrong, squares, nats = wrong + (log_p < np.log(0.5)), squares + 1, nats - log_p
        begun_s = time.process_time()
        if follows:
            reader.learn_bare(picture, stacks)
        cpu_s += time.process_time() - begun_s
    return wrong, squares, nats, cpu_s / len(match)


def main() -> int:
    """Print a row for each change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("changes", nargs="*", metavar="CHANGE", help=f"one of {', '.join(CHANGES)} (default: all)")
    parser.add_argument("--plies", type=int, default=24)
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    for name in options.changes or CHANGES:
        shots = photographs(CHANGES[name], options.plies, options.seed)
        fixed, adaptive = (read(OWN_KIT, shots, follows=follows) for follows in (False, True))
        print(
            f"{name}: {fixed[0]} of {fixed[1]} squares misread ({fixed[2]:.2f} nats) without following, "
            f"{adaptive[0]} ({adaptive[2]:.2f}) with it, {1000 * adaptive[3]:.0f} ms a verdict",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
