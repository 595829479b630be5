"""Explain a whole board: cell by cell until nothing changes, then by what no cell can do alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.block_moves import drop_phantoms, join_towers, split_towers
from vision.inference.coordinate_ascent import Board
from vision.inference.geometry import Geometry
from vision.likelihood.observations import Observations

SWEEPS = 4
"""Most passes over the board; a pass looks only at cells whose neighbours have changed, and two mostly do."""


def explain(shown: Observations, rim: npt.NDArray[np.float32], geometry: Geometry) -> Board:
    """The explanation of a whole board, neighbours considered.

    Args:
        shown: what the picture shows.
        rim: shading of a piece's side, see :class:`calibration.looks.SetLook`.
        geometry: of the pose.
    """
    board = Board(shown, rim, geometry)
    _explain(board)
    return board


def explain_again(board: Board, cells: npt.NDArray[np.intp], shown: Observations) -> None:
    """Explain a board again of which ``cells`` (b,) look different; ``board.explained`` says what was looked at."""
    board.show(cells, shown)
    _explain(board)


def _explain(board: Board) -> None:
    is_single_size = board.geometry.configurations.is_single_size
    converge(board)
    if is_single_size and split_towers(board):
        converge(board)
    if is_single_size and join_towers(board):
        converge(board)
    if drop_phantoms(board):
        converge(board)
    if board.geometry.facets is not None:
        board.rescore_by_facets(board.geometry.facets)


def converge(board: Board) -> None:
    """Look into cells whose neighbours have changed until none has."""
    for _ in range(SWEEPS):
        if not board.sweep():
            return
