"""One cell whose crop shows given codes, with one configuration on it: a box with a face."""

import numpy as np
import pytest

from vision.likelihood.observations import NO_BOARD, Observations
from vision.scene.outline_table import OutlineTable
from vision.scene.visibility import Visibility

COLUMN_MM = 2


@pytest.fixture
def one_box():
    """Return a function that makes the observations, visibility and outline table of one box.

    It takes the codes (rows, columns, 3), visibility, rank, the rows of the box's edges, and its columns. ``expected``
    (3, rows, columns): display values of a learned board.
    """

    def made(codes, visible, rank, rows, wide, expected=None):
        shape = (1, *codes.shape[:2])
        bins, colour_model = np.zeros(shape, np.int32), np.zeros((1, 1), np.float32)
        logs = np.broadcast_to(np.log(np.arange(256) / 255 + 0.05), (1, 3, 256)).astype(np.float32, "C")
        observations = Observations(
            codes[None],
            np.ones((1, 3), np.float32),
            logs,
            np.zeros((1, 3, 256), np.int32),
            bins,
            np.zeros(shape, np.float32),
            colour_model,
            NO_BOARD if expected is None else expected[None].astype(np.float32),
        )
        flat_px = np.arange(bins.size, dtype=np.int32).reshape(shape)
        visibility = Visibility(flat_px, np.full(shape, visible), np.array([rank], np.int32))
        edges = np.broadcast_to(np.array(rows)[:, None], (1, 1, 3, len(wide))).astype(np.float32)
        covers, allowed = np.ones((1, 1, len(wide)), np.bool_), np.ones((1, 1), np.bool_)
        table = OutlineTable(
            edges, covers, wide, np.array([1]), allowed, True, float(COLUMN_MM), np.ones(1, np.float32), 0.1
        )
        return observations, visibility, table

    return made
