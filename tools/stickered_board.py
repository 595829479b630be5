"""A user's own draughts board in front of the simulated camera, with marker stickers around its squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibration.kit import Kit, Marker, load_kit
from calibration.stickers import DICTIONARY, FIRST_ID, STICKER_MM
from companion.simulate.viewpoint import default_camera, default_pose
from vision.pose.projection import project

GAME = "draughts"
POSES = ((-180, -115, 6), (182, -118, 97), (178, 112, -171), (-176, 120, 28))
"""Centre x, y in mm and rotation in degrees of each sticker."""


def own_board() -> Kit:
    """The kit of the board: rotated stickers as markers, no colour patches."""
    kit = load_kit(GAME)
    corners_mm = STICKER_MM / 2 * np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)])
    markers = []
    for number, (x, y, turn) in enumerate(POSES, FIRST_ID):
        c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        corners = tuple(map(tuple, (corners_mm @ np.array([[c, s], [-s, c]]) + (x, y)).tolist()))
        markers.append(Marker(number, (x, y), corners))
    mat = replace(kit.mat, markers=tuple(markers), patches=(), marker_mm=STICKER_MM, dictionary=DICTIONARY)
    return replace(kit, mat=mat)


def corners_px(kit: Kit) -> list[float]:
    """Pixel positions (x, y, x, y, …) of the playing field's corners, rounded as if pointed at by a careful user."""
    camera = default_camera()
    half_mm = np.array([kit.board.files, kit.board.ranks]) * kit.board.pitch_mm / 2
    field_mm = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]) * (*half_mm, 0)
    return np.rint(project(field_mm, default_pose(kit, camera), camera)).ravel().tolist()
