"""The kit of somebody's own board: the board as it was measured, and the pieces of a game's own kit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from calibration.errors import ProfileError
from calibration.kit import Board, Kit, Marker, Mat, PieceKind
from calibration.least_squares import Points
from calibration.measuring import MeasuredBoard
from calibration.toml import Corners

MODULES = 8
"""Width of a marker in modules, approximately; one module of white paper round it is part of the board."""

Sizes = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Squares:
    """What a game is played on: its tag, counts of squares, the ``missing`` ones, and its pieces' ``letters``."""

    game: str
    files: int
    ranks: int
    missing: frozenset[str]
    letters: tuple[str, ...]


def own_kit(name: str, squares: Squares, board: MeasuredBoard, base: Kit, dictionary: str) -> Kit:
    """The kit of a measured board, with pieces in the same proportion to its squares as in the game's own kit.

    Args:
        name: of the kit.
        squares: what the game requires.
        board: as it was measured.
        base: the game's own kit, from which its pieces come.
        dictionary: of the markers, a ``cv2.aruco`` name.

    Raises ProfileError for a game with pillars.
    """
    if base.pillars is not None:
        raise ProfileError(f"{squares.game}: a board of pillars cannot be measured from above; write its kit by hand")
    kinds = tuple(kind for kind in base.pieces if kind.letter in squares.letters)
    half = np.array([squares.files, squares.ranks]) * board.pitch_mm / 2
    reach = [np.array([-half, half])]
    for marker in board.markers:
        corners = np.array(marker.corners_mm)
        quiet_mm = np.linalg.norm(corners[0] - corners[1]) / MODULES
        reach.append(np.array([corners.min(axis=0) - quiet_mm, corners.max(axis=0) + quiet_mm]))
    low, high = np.vstack(reach).min(axis=0), np.vstack(reach).max(axis=0)
    middle = (low + high) / 2
    width, height = np.ceil(high - low)
    markers = tuple(_moved(marker, -middle) for marker in board.markers)
    edge_mm = max(float(np.linalg.norm(np.subtract(*marker.corners_mm[:2]))) for marker in markers)
    left, near = -half + np.array(board.pitch_mm) / 2 - middle
    return Kit(
        name=name,
        game=squares.game,
        mat=Mat(float(width), float(height), None, dictionary, edge_mm, markers, ()),
        board=_board(base.board, squares, board.pitch_mm, (float(left), float(near))),
        pieces=_sized(kinds, min(board.pitch_mm) / min(base.board.pitch_mm)),
        pillars=None,
        stacking=base.stacking,
        enrol=_enrol(base, squares),
    )


def _board(base: Board, squares: Squares, pitch_mm: Sizes, a1_mm: Sizes) -> Board:
    return replace(
        base,
        files=squares.files,
        ranks=squares.ranks,
        pitch_mm=pitch_mm,
        a1_mm=a1_mm,
        missing=squares.missing,
        cell_colour=None,
        chequer_colour=None,
    )


def _moved(marker: Marker, by_mm: Points) -> Marker:
    corners = (np.array(marker.corners_mm) + by_mm).tolist()
    a, b, c, d = ((x, y) for x, y in corners)
    placed: Corners = (a, b, c, d)
    return replace(marker, at_mm=((a[0] + c[0]) / 2, (a[1] + c[1]) / 2), corners_mm=placed)


def _sized(kinds: tuple[PieceKind, ...], share: float) -> tuple[PieceKind, ...]:
    """The pieces in the base's size times ``share``; pyramids are sold in one size."""
    return tuple(kind if kind.shape == "pyramid" else _resized(kind, share) for kind in kinds)


def _resized(kind: PieceKind, share: float) -> PieceKind:
    return replace(kind, width_mm=round(kind.width_mm * share, 1), height_mm=round(kind.height_mm * share, 1))


def _enrol(base: Kit, squares: Squares) -> Mapping[str, str]:
    """Where the base's single pieces belong, as far as the board has these squares."""
    alike = (base.board.files, base.board.ranks) == (squares.files, squares.ranks)
    wanted = {cell: letter for cell, letter in base.enrol.items() if letter in squares.letters}
    return wanted if alike and squares.missing.isdisjoint(wanted) else {}


def format_own_kit(kit: Kit) -> str:
    """A kit without colours of mat and squares as TOML, which :func:`calibration.kit.read_kit` reads back."""
    mat, board = kit.mat, kit.board
    across, up = (round(length, 3) for length in board.pitch_mm)
    rows = [
        "# Somebody's own board, measured from a photograph by `companion measure` (docs/own-board.md).",
        "# Millimetres, origin at the middle, x to the first player's right, y away from the first player.",
        f"game = {json.dumps(kit.game)}",
        "",
        "[mat]",
        f"width_mm = {mat.width_mm:g}",
        f"height_mm = {mat.height_mm:g}",
        f"dictionary = {json.dumps(mat.dictionary)}",
        "markers = [                         # corners of the black borders, clockwise from each one's own top left",
        *(
            f"  {{ id = {marker.id}, corners = [{', '.join(map(_point, marker.corners_mm))}] }},"
            for marker in mat.markers
        ),
        "]",
        "",
        "[board]",
        f"files = {board.files}",
        f"ranks = {board.ranks}",
        f"pitch_mm = {across if across == up else [across, up]}",
        f"a1_mm = {_point(board.a1_mm)}",
        *([f"missing = {json.dumps(sorted(board.missing))}"] if board.missing else []),
        *([f"terrain_step_mm = {board.terrain_step_mm:g}"] if board.terrain_step_mm else []),
    ]
    if kit.stacking is not None:
        rows += ["", "[stacking]", f"tower_rise_mm = {kit.stacking.tower_rise_mm:g}"]
        rows += [f"keep_rise_mm = {kit.stacking.keep_rise_mm:g}"]
    rows += ["", "[pieces]", *map(_piece, kit.pieces)]
    if kit.enrol:
        rows += ["", "[enrol]", *(f"{cell} = {json.dumps(letter)}" for cell, letter in kit.enrol.items())]
    return "\n".join(rows) + "\n"


def _point(at_mm: Sizes) -> str:
    return f"[{at_mm[0]:.2f}, {at_mm[1]:.2f}]"


def _piece(kind: PieceKind) -> str:
    width = {"disc": "diameter_mm", "cube": "side_mm", "pyramid": "base_mm"}[kind.shape]
    keys = {"shape": json.dumps(kind.shape), width: f"{kind.width_mm:g}"}
    if kind.shape != "cube":
        keys["height_mm"] = f"{kind.height_mm:g}"
    keys["colour"] = f'"#{bytes(kind.colour).hex()}"'
    if kind.glyph:
        keys["glyph"] = json.dumps(kind.glyph, ensure_ascii=False)
        keys["glyph_colour"] = f'"#{bytes(kind.glyph_colour).hex()}"'
    return f"{kind.letter} = {{ {', '.join(f'{key} = {value}' for key, value in keys.items())} }}"
