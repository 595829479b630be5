"""What a learned board shows in the crops of single cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from calibration.board_appearance import BoardAppearance
from calibration.camera import Camera
from vision.appearance.board_surface import LocalLight, light_around, predict, subtract_offset
from vision.appearance.board_view import BoardView, view_board
from vision.appearance.illumination import Illumination
from vision.compiled import compiled
from vision.last_value_cache import LastValueCache
from vision.pose.projection import Registration
from vision.scene.crops import Crops

Array = npt.NDArray[np.float32]


class CellViews:
    """The bare board in the crops of single cells; views are cached while board and view stay the same."""

    def __init__(self) -> None:
        self._views = LastValueCache[dict[Crops, BoardView]]()

    def predict(
        self,
        board: BoardAppearance,
        view: tuple[Registration, Camera],
        light: Illumination,
        crops: Sequence[Crops],
    ) -> list[tuple[Array, Array]]:
        """What ``board`` shows in ``crops`` (b), each of one cell, from their ``view``, in a ``light``.

        Returns:
            For each cell (3, rows, columns) float32 display values b g r relative to white paper, NaN where unknown;
            and (rows, columns) float32, the mean variance of the three there.
        """
        views = self._views.get((board, *view), dict)
        for crop in set(crops) - views.keys():
            views[crop] = view_board(board, crop, *view)
        centres_mm = np.vstack([crop.centres_mm for crop in crops])
        local = light_around(light, np.ones((len(crops), 3), np.float32), centres_mm)
        return [_predict_cell(views[crop], local, k) for k, crop in enumerate(crops)]


@compiled
def _predict_cell(view: BoardView, light: LocalLight, k: int) -> tuple[Array, Array]:
    """See :meth:`CellViews.predict`; for a ``view`` of one cell, whose row in ``light`` is ``k``."""
    scale, one = view.scale[0].reshape(3, -1), np.float32(1)
    shown, variance = np.empty_like(view.values[0]), np.empty_like(view.log_volume[0])
    board, mean = shown.reshape(3, -1), variance.reshape(-1)
    predict(view.values[0].reshape(3, -1), view.aside_mm[0].reshape(2, -1), light, k, board)
    subtract_offset(scale[0], np.float32(np.nan), board)
    for i in range(len(mean)):
        blue, green, red = one / scale[0, i], one / scale[1, i], one / scale[2, i]
        mean[i] = (blue * blue + green * green + red * red) / np.float32(3)
    return shown, variance
