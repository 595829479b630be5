"""The lens of a camera by the markers of the board that stands before it."""

from __future__ import annotations

from calibration.board_lens import BoardLens, find_lens, find_markers, usual_camera
from calibration.kit import Kit
from vision.drawing import Picture
from vision.pose.registration import register, to_gray


def lens_from(kit: Kit, *images: Picture) -> BoardLens:
    """The lens that took images of one size of a kit's board.

    Raises VisionError, MatNotFound where one shows too little of the board, as reading it would; ProfileError.
    """
    height, width = images[0].shape[:2]
    for image in images:
        register(to_gray(image), kit, usual_camera((width, height)))
    return find_lens([find_markers(image, kit) for image in images], kit)
