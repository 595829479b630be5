"""Measure, learn and read own boards that are painted at random: chequered, lines on wood, pictures.

Everything as somebody would do it (docs/own-board.md): four corners are pointed at in a photograph of the empty board,
its kit and its lens come from that, its appearance from the same photograph, the set from the start position.
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
from companion.own_board import Wish, measure
from companion.simulate import ground
from companion.simulate.ground import MAT_PX_PER_MM, wood
from companion.simulate.sprite import Scene
from companion.simulate.standing import seeded, set_up
from tools.boards import EMPTY_SHARE, Cell, picture, placed, random_camera, random_light, random_stack, report
from tools.hidden import seen_shares
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

CLICK_PX, RULER = 1.5, 0.003
"""Standard deviation of a corner that is pointed at, and of the one length that is measured, as a share of it."""

QUIET_MODULES = 1.0
"""Width of the white paper around a sticker's border, in modules."""

WAVES_MM = 45.0
"""Width of the patches of colour of a picture."""


@dataclass(frozen=True, eq=False)
class Owned:
    """A user's own board: its true kit, its painting, and the camera's pose."""

    kit: Kit
    painted: Picture
    scene: Scene


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was misread, and totals with 95 % intervals."""
    parser = argparse.ArgumentParser(prog="tools.own_boards", description=__doc__)
    parser.add_argument("--boards", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    arguments = parser.parse_args(argv)
    cv2.setNumThreads(1)
    cells: list[Cell] = []
    refused = otherwise = 0
    for seed in range(arguments.first, arguments.first + arguments.boards):
        try:
            read, many = read_board(seed)
        except (VisionError, ProfileError) as error:
            refused += 1
            print(f"board {seed} ({described(seed)}): {error}", flush=True)
            continue
        cells, otherwise = cells + read, otherwise + many
        for cell in (cell for cell in read if not cell.right):
            print(
                f"board {seed} ({described(seed)}), {cell.name}: {cell.stack or 'nothing'} read as {cell.read} "
                f"(p {cell.p:.3f}, {cell.seen:.0%} seen)",
                flush=True,
            )
    print("\n".join(report(cells, refused)))
    print(f"pictures in which the board was said to look otherwise: {otherwise}")
    return 0


def described(seed: int) -> str:
    """Game and style of a board."""
    return f"{GAMES[seed % len(GAMES)]}, {STYLES[seed // len(GAMES) % len(STYLES)]}"


def read_board(seed: int) -> tuple[list[Cell], int]:
    """The cells of the tables read on one board, and in how many pictures it was said to look otherwise.

    Raises VisionError, ProfileError.
    """
    rng = random.Random(f"own board {seed}")
    own = owned(seed, rng)
    game = load_game(own.kit.game)
    stacks = dict(zip(game.layout.cells, game.table(game.start()).stacks, strict=True))
    start = tuple(stacks.get(cell, "") for cell in own.kit.cells)
    with mock.patch.object(ground, "sheet", return_value=own.painted):
        empty, begun = (_shot(own.scene, table, seed) for table in (("",) * len(start), start))
        kit, board = measure(game, empty, _field(own, rng), _wish(own.kit), None)
        known = {cell: stack for cell, stack in zip(own.kit.cells, start, strict=True) if stack}
        reader = Reader(kit, board.camera, enrol(begun, kit, board.camera, (), known, [empty]))
        cells, otherwise = [], 0
        for number in range(TABLES):
            table = tuple("" if rng.random() < EMPTY_SHARE else random_stack(rng, own.kit) for _ in own.kit.cells)
            scene = replace(own.scene, light=random_light(rng))
            reading = reader.read(Frame(_shot(scene, table, TABLES * seed + number), number, 0.0))
            otherwise += bool(reading.unlike)
            shares = seen_shares(scene, set_up(table, None, seeded("boards", TABLES * seed + number)))
            for i, (stack, seen) in enumerate(zip(table, shares, strict=True)):
                sight, p = reading.best(i)
                right = sight == game.sight(stack)
                name = f"{number}:{own.kit.cells[i]}"
                cells.append(Cell(TABLES * seed + number, name, stack, f"{sight[0]}{sight[1] or ''}", p, right, seen))
    return cells, otherwise


def owned(seed: int, rng: random.Random) -> Owned:
    """A board of the style that is its turn, in random colours, before a random camera in random light."""
    kit = load_kit(GAMES[seed % len(GAMES)])
    hues = [rng.random() for _ in range(2)]
    letters = load_game(kit.game).pieces
    pieces = tuple(replace(kind, colour=_tinted(rng, kind.colour)) for kind in kit.pieces if kind.letter in letters)
    dark, pale, line = (
        _colour(rng, hues[0], 0.25, 0.5),
        _colour(rng, hues[1], 0.6, 0.9),
        _colour(rng, hues[0], 0.1, 0.8),
    )
    style = STYLES[seed // len(GAMES) % len(STYLES)]
    squares = replace(
        kit.board, cell_colour=pale, chequer_colour=dark if style == "chequer" else None, line_colour=line
    )
    mat = replace(kit.mat, colour=_colour(rng, rng.random(), 0.2, 0.8), patches=())
    kit = replace(kit, name=f"own-{seed}", board=squares, mat=mat, pieces=pieces)
    camera = random_camera(rng)
    pose = placed(kit, camera, rng.uniform(*ELEVATIONS_DEG), rng.uniform(0, 360))
    return Owned(kit, _painted(kit, style, seed), Scene(kit, camera, pose, random_light(rng)))


def _colour(rng: random.Random, hue: float, darkest: float, palest: float) -> Colour:
    r, g, b = colorsys.hsv_to_rgb(hue, rng.uniform(0.1, 0.6), rng.uniform(darkest, palest))
    return round(255 * r), round(255 * g), round(255 * b)


def _tinted(rng: random.Random, colour: Colour) -> Colour:
    """A colour of a piece that differs somewhat from that in the program's kit."""
    r, g, b = (min(max(round(part + rng.gauss(0, 15)), 0), 255) for part in colour)
    return r, g, b


def _painted(kit: Kit, style: str, seed: int) -> Picture:
    """(height, width, 3) uint8 RGB, the board as it is painted: wood under its squares, or a picture; and stickers."""
    plain = printed_mat(replace(kit, mat=replace(kit.mat, markers=())), MAT_PX_PER_MM).astype(np.float32)
    height, width = plain.shape[:2]
    if style == "picture":
        noise = np.random.default_rng(seed)
        waves = noise.normal(0, 1, (int(kit.mat.height_mm / WAVES_MM) + 2, int(kit.mat.width_mm / WAVES_MM) + 2, 3))
        smooth = cv2.resize(waves.astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC)
        plain = np.clip(plain + 30 * smooth, 5, 250)
    else:
        grain = wood().astype(np.float32).mean(axis=2)
        first = 100 * (seed % 8)
        part = grain[first : first + int(kit.mat.height_mm) + 1, first : first + int(kit.mat.width_mm) + 1]
        plain = np.clip(plain * cv2.resize(part / part.mean(), (width, height))[..., None], 0, 255)
    white = printed_mat(replace(kit, mat=replace(kit.mat, colour=(245, 245, 245))), MAT_PX_PER_MM)
    reach = kit.mat.marker_mm * (0.5 + QUIET_MODULES / 8)
    for marker in kit.mat.markers:
        x, y = marker.at_mm[0] + kit.mat.width_mm / 2, kit.mat.height_mm / 2 - marker.at_mm[1]
        left, right, top, bottom = (
            max(round(v * MAT_PX_PER_MM), 0) for v in (x - reach, x + reach, y - reach, y + reach)
        )
        plain[top:bottom, left:right] = white[top:bottom, left:right]
    return plain.astype(np.uint8)


def _shot(scene: Scene, table: Sequence[str], seed: int) -> Picture:
    return picture(scene.kit, scene.camera, scene.pose, scene.light, table, seed)


def _field(own: Owned, rng: random.Random) -> Field:
    """The playing field as given by somebody who points at its corners and measures its side."""
    board, (across, along) = own.kit.board, own.kit.board.pitch_mm
    low = np.array(board.a1_mm) - (across / 2, along / 2)
    high = low + np.array([board.files * across, board.ranks * along])
    flat = np.array([(low[0], low[1], 0), (high[0], low[1], 0), (high[0], high[1], 0), (low[0], high[1], 0)])
    corners: Points = project(flat, own.scene.pose, own.scene.camera)
    a1, second, third, fourth = ((x + rng.gauss(0, CLICK_PX), y + rng.gauss(0, CLICK_PX)) for x, y in corners.tolist())
    side_mm = float(high[0] - low[0]) * (1 + rng.gauss(0, RULER))
    return Field((a1, second, third, fourth), board.files, board.ranks, (side_mm, None), own.kit.mat.marker_mm)


def _wish(kit: Kit) -> Wish:
    """Pieces are as large as those of the game's own kit, on squares as large."""
    return Wish(dictionary=kit.mat.dictionary, name="own")


if __name__ == "__main__":
    sys.exit(main())
