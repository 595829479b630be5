"""Read random rendered boards through random cameras, in random light, with sets in several colours: `make soak`.

Prints how many squares and boards were read correctly, of all squares and of the visible ones, and a reliability table:
how often readings of each probability were correct.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.kit import Kit, available_kits, load_kit
from companion.app.ground import start_levels
from companion.games import load_game
from companion.simulate.light import Light
from companion.simulate.placement import Setup, make_rng, set_up
from companion.simulate.render import Picture, Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import looking_at
from tools import path_tracer
from tools.soak import wilson
from tools.visibility import MIN_VISIBLE, visible_fractions
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.pose.projection import Registration, project
from vision.reader import Reader

SETS = (
    (),  # the kit's own colours
    ((138, 32, 32), (32, 90, 32), (32, 48, 112), (192, 160, 48)),
    ((208, 64, 72), (79, 160, 96), (74, 127, 208), (240, 208, 96)),
    ((179, 32, 42), (240, 128, 48), (112, 32, 128), (48, 160, 160)),
)
"""Colours of the pieces, sRGB."""

HEIGHTS = (1, 1, 1, 2, 2, 3, 3, 4, 5)
"""Stack heights to choose from: low ones are more frequent."""

TALLEST_MM = 80.0
"""Maximum height of a stack."""

EMPTY_SHARE = 0.55
EMPTY_SHARES = {"citadel": 0.8, "diamond": 0.65, "ziggurat": 0.75}
"""Fraction of empty squares, and that of kits with fewer pieces per square."""

ELEVATIONS_DEG = (48.0, 65.0)
FOCAL_PX = (850.0, 1250.0)
NOISE = (1.0, 5.0)
"""Ranges of the camera's elevation, of its focal length and of the noise's standard deviation (codes)."""

BANDS = (0.0, 0.5, 0.9, 0.99, 0.999, 1.0)
"""Bin edges of the reliability table."""

Shot = Callable[[Scene, Setup, int], Picture]
"""Renders a picture of a setup; the number is the seed of its noise."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One square of one board.

    Attributes:
        board: number of the board, usually its seed.
        name: of the square.
        stack: ground truth, bottom piece first.
        read: likeliest height and top piece.
        p: probability of that reading.
        right: whether it agrees with the ground truth.
        seen: fraction (0…1) of the square that is visible to the camera.
    """

    board: int
    name: str
    stack: str
    read: str
    p: float
    right: bool
    seen: float = 1.0


def rendered(scene: Scene, setup: Setup, seed: int) -> Picture:
    """(height, width, 3) uint8 BGR, drawn by the program's own renderer."""
    return Renderer(scene, seed).picture(setup, 0)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="tools.boards", description=__doc__)
    parser.add_argument("--boards", type=int, default=60)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--kit", action="append", choices=available_kits(), help="default: all")
    parser.add_argument("--traced", action="store_true", help="render by path tracing; about half a minute per picture")
    arguments = parser.parse_args(argv)
    cv2.setNumThreads(1)
    for name in arguments.kit or available_kits():
        cells: list[Cell] = []
        refused = 0
        for seed in range(arguments.first, arguments.first + arguments.boards):
            try:
                cells += read_board(seed, name, path_tracer.photograph if arguments.traced else rendered)
            except VisionError as error:
                refused += 1
                print(f"{name}, board {seed}: {error}", flush=True)
        for cell in (cell for cell in cells if not cell.right):
            print(
                f"board {cell.board}, {cell.name}: {cell.stack or 'nothing'} read as {cell.read} "
                f"(p {cell.p:.3f}, {cell.seen:.0%} seen)"
            )
        print("\n".join(["", f"**{name}**", "", *report(cells, refused)]), flush=True)
    return 0


def read_board(seed: int, name: str = "domination", shoot: Shot = rendered) -> list[Cell]:
    """Enrol a set and read one board with it, both rendered from ``seed``.  Raises VisionError."""
    rng = random.Random(seed)
    kit = load_kit(name)
    if name == "domination":
        kit = _recoloured(kit, SETS[seed % len(SETS)])
    camera = random_camera(rng)
    pose = _pose(rng, kit, camera)
    game = load_game(kit.game)
    ground = start_levels(kit)
    single = [kit.enrol.get(cell, "") for cell in kit.cells]
    enrolled = picture(kit, camera, pose, random_light(rng), single, seed, ground, shoot)
    empty = EMPTY_SHARES.get(name, EMPTY_SHARE)
    stacks = ["" if rng.random() < empty else random_stack(rng, kit) for _ in kit.cells]
    if kit.pillars is not None:
        ground = tuple(rng.randint(kit.pillars.lowest, kit.pillars.highest) for _ in kit.cells)
    light = random_light(rng)
    image = picture(kit, camera, pose, light, stacks, seed, ground, shoot)
    visible = visible_fractions(Scene(kit, camera, pose, light), _setup(stacks, ground, seed))
    reader = Reader(kit, camera, enrol(enrolled, kit, camera, start_levels(kit)), ground)
    reading = reader.read(Frame(image, 0, 0.0))
    cells = []
    for i, (stack, seen) in enumerate(zip(stacks, visible, strict=True)):
        (height, top), p = reading.best(i)
        right = (height, top) == game.sight(stack)
        cells.append(Cell(seed, kit.cells[i], stack, f"{height}{top or ''}", p, right, seen))
    return cells


def report(cells: Sequence[Cell], refused: int) -> list[str]:
    """Lines of the report: totals with 95 % intervals, of all and of visible squares; reliability of the latter."""
    seen = [cell for cell in cells if cell.seen >= MIN_VISIBLE]
    rows = [
        f"squares right: {_right_squares(cells)}",
        f"boards exact: {_exact_boards(cells)}; enrolments refused: {refused}",
        f"squares right of those that are seen: {_right_squares(seen)}",
        f"boards exact in those that are seen: {_exact_boards(seen)}",
        "",
        "| probability given | squares that are seen | right |",
        "| --- | --- | --- |",
    ]
    for low, high in itertools.pairwise(BANDS):
        bin_ = [cell for cell in seen if low <= cell.p and (cell.p < high or high == 1.0)]
        if bin_:
            rows.append(f"| {low:g} to {high:g} | {len(bin_)} | {_right_squares(bin_)} |")
    return rows


def _right_squares(cells: Sequence[Cell]) -> str:
    return _proportion(sum(cell.right for cell in cells), len(cells))


def _exact_boards(cells: Sequence[Cell]) -> str:
    boards, misread = (
        {cell.board for cell in selection} for selection in (cells, [cell for cell in cells if not cell.right])
    )
    return _proportion(len(boards) - len(misread), len(boards))


def _proportion(count: int, total: int) -> str:
    low, high = wilson(count, total)
    return f"{count} of {total} ({100 * count / total:.2f} %, 95 % interval {100 * low:.2f}–{100 * high:.2f} %)"


def _recoloured(kit: Kit, colours: tuple[tuple[int, int, int], ...]) -> Kit:
    """``kit`` with pieces in these colours; unchanged if there are none."""
    if not colours:
        return kit
    pieces = (replace(kind, colour=colour) for kind, colour in zip(kit.pieces, colours, strict=True))
    return replace(kit, pieces=tuple(pieces))


def random_camera(rng: random.Random) -> Camera:
    """A camera of 1280 x 720 px with a random focal length, principal point and radial distortion."""
    focal = rng.uniform(*FOCAL_PX)
    matrix = np.array([[focal, 0, 640 + rng.uniform(-9, 9)], [0, focal, 360 + rng.uniform(-9, 9)], [0, 0, 1]])
    return Camera(1280, 720, matrix, np.array([rng.uniform(-0.1, 0.1), rng.uniform(-0.03, 0.03), 0, 0, 0]), 0.0)


def _pose(rng: random.Random, kit: Kit, camera: Camera) -> Registration:
    """A random pose around the table."""
    return nearest_pose(kit, camera, rng.uniform(*ELEVATIONS_DEG), rng.uniform(0, 360))


def nearest_pose(kit: Kit, camera: Camera, elevation_deg: float, azimuth_deg: float) -> Registration:
    """The nearest pose in this direction from which the whole mat is visible.  Raises ValueError if there is none."""
    half_mm = np.array([kit.mat.width_mm / 2, kit.mat.height_mm / 2])
    corners_mm = np.array([(*(half_mm * sign), z) for sign in ((1, 1), (1, -1), (-1, -1), (-1, 1)) for z in (0, 40)])
    for distance in range(300, 2000, 10):
        pose = looking_at(np.zeros(3), float(distance), kit, elevation_deg, azimuth_deg)
        pixels = project(corners_mm, pose, camera)
        if (pixels > 20).all() and (pixels < [1260, 700]).all():
            return pose
    raise ValueError(f"the mat of {kit.name} does not fit into the picture")


def random_light(rng: random.Random) -> Light:
    """Light of random direction, strength and tint."""
    azimuth, elevation = rng.uniform(0, 2 * np.pi), rng.uniform(0.4, 1.3)
    strength, warm = rng.uniform(0.25, 0.8), rng.uniform(-0.15, 0.15)
    red, green, blue = (factor * rng.uniform(0.25, 0.5) for factor in (1 + warm / 2, 1.0, 1 - warm / 2))
    return Light(
        direction=(np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)),
        colour=(strength * (1 + warm), strength, strength * (1 - warm)),
        room=(red, green, blue),
        fall_per_mm=rng.uniform(0, 0.0012),
        shine=rng.uniform(0, 0.3),
        noise=rng.uniform(*NOISE),
    )


def random_stack(rng: random.Random, kit: Kit) -> str:
    """A random stack that can stand on a square of this kit."""
    letters = [kind.letter for kind in kit.pieces]
    if kit.pillars is not None:
        return rng.choice(letters)
    if kit.stacking is None:
        return "".join(
            rng.choice(letters) for _ in range(min(rng.choice(HEIGHTS), int(TALLEST_MM / kit.pieces[0].height_mm)))
        )
    # Nesting pieces: each is one size smaller, or each one size larger, than the one below.
    sizes = sorted({kind.width_mm for kind in kit.pieces})
    first, count = rng.randrange(len(sizes)), rng.randint(1, len(sizes))
    chosen = sizes[first : first + count][:: rng.choice((1, -1))]
    return "".join(rng.choice([kind.letter for kind in kit.pieces if kind.width_mm == size]) for size in chosen)


def picture(
    kit: Kit,
    camera: Camera,
    pose: Registration,
    light: Light,
    stacks: Sequence[str],
    seed: int,
    levels: tuple[int, ...] = (),
    shoot: Shot = rendered,
) -> Picture:
    """(720, 1280, 3) uint8 BGR of stacks on a kit's board, on terrain or pillars at ``levels``."""
    return shoot(Scene(kit, camera, pose, light), _setup(stacks, levels, seed), seed)


def _setup(stacks: Sequence[str], levels: tuple[int, ...], seed: int) -> Setup:
    return set_up(tuple(stacks), levels or None, make_rng("boards", seed))


if __name__ == "__main__":
    sys.exit(main())
