"""Somebody's own board for draughts before the simulated camera, with stickers round its squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibration.kit import Kit, Marker, load_kit
from calibration.stickers import DICTIONARY, FIRST_ID, STICKER_MM
from companion.simulate.viewpoint import default_camera, default_pose
from vision.pose.projection import project

GAME = "draughts"
PLACES = ((-180, -115, 6), (182, -118, 97), (178, 112, -171), (-176, 120, 28))
"""Of the stickers' middles, mm, and by how many degrees each is turned."""


def own_board() -> Kit:
    """Somebody's own board before the simulated camera: stickers askew, no patches."""
    kit = load_kit(GAME)
    own = STICKER_MM / 2 * np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)])
    markers = []
    for number, (x, y, turn) in enumerate(PLACES, FIRST_ID):
        c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        corners = tuple(map(tuple, (own @ np.array([[c, s], [-s, c]]) + (x, y)).tolist()))
        markers.append(Marker(number, (x, y), corners))
    mat = replace(kit.mat, markers=tuple(markers), patches=(), marker_mm=STICKER_MM, dictionary=DICTIONARY)
    return replace(kit, mat=mat)


def corners_px(kit: Kit) -> list[float]:
    """Where the camera sees the corners of the field, to the nearest pixel, as a careful person points at them."""
    camera = default_camera()
    half = np.array([kit.board.files, kit.board.ranks]) * kit.board.pitch_mm / 2
    field = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]) * (*half, 0)
    return np.rint(project(field, default_pose(kit, camera), camera)).ravel().tolist()
