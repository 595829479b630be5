"""Measure, enrol and read users' own boards in random styles: chequered, lines on wood, pictures.

Follows the steps of docs/own-board.md: the user points at four corners in a photograph of the empty board, which give
kit and camera; the same photograph gives the board's appearance, the start position that of the pieces.
"""

from __future__ import annotations

import argparse
import colorsys
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from unittest import mock

import cv2
import numpy as np

from calibration.errors import ProfileError
from calibration.kit import Colour, Kit, load_kit
from calibration.measuring import Field
from calibration.printed import printed_mat
from companion.games import load_game
from companion.own_board import BoardOptions, measure
from companion.simulate import ground
from companion.simulate.ground import MAT_PX_PER_MM, wood
from companion.simulate.placement import make_rng, set_up
from companion.simulate.sprite import Scene
from tools.boards import EMPTY_SHARE, Cell, nearest_pose, picture, random_camera, random_light, random_stack, report
from tools.visibility import visible_fractions
from vision.capture.frames import Frame
from vision.drawing import Picture
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.pose.projection import Points, project
from vision.reader import Reader

GAMES = ("draughts", "domination", "ziggurat")
STYLES = ("chequer", "lines", "picture")
ELEVATIONS_DEG = (42.0, 65.0)
TABLES = 2
"""Number of tables read on each board, each in its own light."""

CLICK_PX, RULER_ERROR = 1.5, 0.003
"""Standard deviations of the corners that are pointed at, and of the measured side, relative to its length."""

QUIET_MODULES = 1.0
"""Width of a sticker's white border (quiet zone), in marker modules."""

WAVES_MM = 45.0
"""Approximate size of the colour patches of a picture."""


@dataclass(frozen=True, eq=False)
class OwnBoard:
    """A user's own board: its true kit, the picture on its mat (RGB), and the scene with camera, pose and light."""

    kit: Kit
    mat_picture: Picture
    scene: Scene


def main(argv: Sequence[str] | None = None) -> int:
    """Print misread squares, and totals with 95 % intervals."""
    parser = argparse.ArgumentParser(prog="tools.own_boards", description=__doc__)
    parser.add_argument("--boards", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    arguments = parser.parse_args(argv)
    cv2.setNumThreads(1)
    cells: list[Cell] = []
    refused = unlike_count = 0
    for seed in range(arguments.first, arguments.first + arguments.boards):
        try:
            read, unlike = read_board(seed)
        except (VisionError, ProfileError) as error:
            refused += 1
            print(f"board {seed} ({description(seed)}): {error}", flush=True)
            continue
        cells, unlike_count = cells + read, unlike_count + unlike
        for cell in (cell for cell in read if not cell.right):
            print(
                f"board {seed} ({description(seed)}), {cell.name}: {cell.stack or 'nothing'} read as {cell.read} "
                f"(p {cell.p:.3f}, {cell.seen:.0%} seen)",
                flush=True,
            )
    print("\n".join(report(cells, refused)))
    print(f"pictures in which the board was said to look otherwise: {unlike_count}")
    return 0


def description(seed: int) -> str:
    """Game and style of the board of a seed."""
    return f"{GAMES[seed % len(GAMES)]}, {STYLES[seed // len(GAMES) % len(STYLES)]}"


def read_board(seed: int) -> tuple[list[Cell], int]:
    """The cells read on the tables of one board, and the number of pictures in which it looked unlike its enrolment.

    Raises VisionError or ProfileError if the board cannot be measured, enrolled or read.
    """
    rng = random.Random(f"own board {seed}")
    own = random_board(seed, rng)
    game = load_game(own.kit.game)
    stacks = dict(zip(game.layout.cells, game.table(game.start()).stacks, strict=True))
    start = tuple(stacks.get(cell, "") for cell in own.kit.cells)
    with mock.patch.object(ground, "sheet", return_value=own.mat_picture):
        empty_picture, start_picture = (_render(own.scene, table, seed) for table in (("",) * len(start), start))
        kit, board = measure(game, empty_picture, _field(own, rng), _wish(own.kit), None)
        known = {cell: stack for cell, stack in zip(own.kit.cells, start, strict=True) if stack}
        reader = Reader(kit, board.camera, enrol(start_picture, kit, board.camera, (), known, [empty_picture]))
        cells, unlike_count = [], 0
        for number in range(TABLES):
            table = tuple("" if rng.random() < EMPTY_SHARE else random_stack(rng, own.kit) for _ in own.kit.cells)
            scene = replace(own.scene, light=random_light(rng))
            reading = reader.read(Frame(_render(scene, table, TABLES * seed + number), number, 0.0))
            unlike_count += bool(reading.mismatched)
            visible = visible_fractions(scene, set_up(table, None, make_rng("boards", TABLES * seed + number)))
            for i, (stack, seen) in enumerate(zip(table, visible, strict=True)):
                sight, p = reading.best(i)
                right = sight == game.sight(stack)
                name = f"{number}:{own.kit.cells[i]}"
                cells.append(Cell(TABLES * seed + number, name, stack, f"{sight[0]}{sight[1] or ''}", p, right, seen))
    return cells, unlike_count


def random_board(seed: int, rng: random.Random) -> OwnBoard:
    """The board of a seed: game and style in turn; colours, camera and light at random."""
    kit = load_kit(GAMES[seed % len(GAMES)])
    hues = [rng.random() for _ in range(2)]
    letters = load_game(kit.game).pieces
    pieces = tuple(replace(kind, colour=_jittered(rng, kind.colour)) for kind in kit.pieces if kind.letter in letters)
    dark, light, line = (
        _colour(rng, hues[0], 0.25, 0.5),
        _colour(rng, hues[1], 0.6, 0.9),
        _colour(rng, hues[0], 0.1, 0.8),
    )
    style = STYLES[seed // len(GAMES) % len(STYLES)]
    squares = replace(
        kit.board, cell_colour=light, chequer_colour=dark if style == "chequer" else None, line_colour=line
    )
    mat = replace(kit.mat, colour=_colour(rng, rng.random(), 0.2, 0.8), patches=())
    kit = replace(kit, name=f"own-{seed}", board=squares, mat=mat, pieces=pieces)
    camera = random_camera(rng)
    pose = nearest_pose(kit, camera, rng.uniform(*ELEVATIONS_DEG), rng.uniform(0, 360))
    return OwnBoard(kit, _paint_mat(kit, style, seed), Scene(kit, camera, pose, random_light(rng)))


def _colour(rng: random.Random, hue: float, darkest: float, lightest: float) -> Colour:
    """A colour of this hue with random saturation, and HSV value between ``darkest`` and ``lightest``."""
    r, g, b = colorsys.hsv_to_rgb(hue, rng.uniform(0.1, 0.6), rng.uniform(darkest, lightest))
    return round(255 * r), round(255 * g), round(255 * b)


def _jittered(rng: random.Random, colour: Colour) -> Colour:
    """``colour`` with Gaussian noise on each channel."""
    r, g, b = (min(max(round(part + rng.gauss(0, 15)), 0), 255) for part in colour)
    return r, g, b


def _paint_mat(kit: Kit, style: str, seed: int) -> Picture:
    """(height, width, 3) uint8 RGB picture of the mat: squares on wood grain or on a picture, with stickers on top."""
    mat = printed_mat(replace(kit, mat=replace(kit.mat, markers=())), MAT_PX_PER_MM).astype(np.float32)
    height, width = mat.shape[:2]
    if style == "picture":
        noise = np.random.default_rng(seed)
        waves = noise.normal(0, 1, (int(kit.mat.height_mm / WAVES_MM) + 2, int(kit.mat.width_mm / WAVES_MM) + 2, 3))
        smooth = cv2.resize(waves.astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC)
        mat = np.clip(mat + 30 * smooth, 5, 250)
    else:
        grain = wood().astype(np.float32).mean(axis=2)
        first = 100 * (seed % 8)
        part = grain[first : first + int(kit.mat.height_mm) + 1, first : first + int(kit.mat.width_mm) + 1]
        mat = np.clip(mat * cv2.resize(part / part.mean(), (width, height))[..., None], 0, 255)
    stickers = printed_mat(replace(kit, mat=replace(kit.mat, colour=(245, 245, 245))), MAT_PX_PER_MM)
    half_side_mm = kit.mat.marker_mm * (0.5 + QUIET_MODULES / 8)
    for marker in kit.mat.markers:
        x, y = marker.at_mm[0] + kit.mat.width_mm / 2, kit.mat.height_mm / 2 - marker.at_mm[1]
        left, right, top, bottom = (
            max(round(v * MAT_PX_PER_MM), 0)
            for v in (x - half_side_mm, x + half_side_mm, y - half_side_mm, y + half_side_mm)
        )
        mat[top:bottom, left:right] = stickers[top:bottom, left:right]
    return mat.astype(np.uint8)


def _render(scene: Scene, table: Sequence[str], seed: int) -> Picture:
    return picture(scene.kit, scene.camera, scene.pose, scene.light, table, seed)


def _field(own: OwnBoard, rng: random.Random) -> Field:
    """The playing field as a user gives it: corners in the picture and the measured side, both with random errors."""
    board, (across, along) = own.kit.board, own.kit.board.pitch_mm
    low_mm = np.array(board.a1_mm) - (across / 2, along / 2)
    high_mm = low_mm + np.array([board.files * across, board.ranks * along])
    corners_mm = np.array(
        [(low_mm[0], low_mm[1], 0), (high_mm[0], low_mm[1], 0), (high_mm[0], high_mm[1], 0), (low_mm[0], high_mm[1], 0)]
    )
    corners_px: Points = project(corners_mm, own.scene.pose, own.scene.camera)
    a1, second, third, fourth = (
        (x + rng.gauss(0, CLICK_PX), y + rng.gauss(0, CLICK_PX)) for x, y in corners_px.tolist()
    )
    side_mm = float(high_mm[0] - low_mm[0]) * (1 + rng.gauss(0, RULER_ERROR))
    return Field((a1, second, third, fourth), board.files, board.ranks, (side_mm, None), own.kit.mat.marker_mm)


def _wish(kit: Kit) -> BoardOptions:
    """The options of the measurement: markers as in ``kit``, sizes of pieces as in the game's own kit."""
    return BoardOptions(dictionary=kit.mat.dictionary, name="own")


if __name__ == "__main__":
    sys.exit(main())
