"""The lens of a camera by the markers of the board that stands before it."""

from __future__ import annotations

from calibration.board_lens import BoardLens, find_lens, find_markers, prior_camera
from calibration.kit import Kit
from vision.drawing import Picture
from vision.pose.registration import register, to_gray


def lens_from(kit: Kit, *images: Picture) -> BoardLens:
    """The lens that took images of one size of a kit's board.

    Raises VisionError, MatNotFound where one shows too little of the board, as reading it would; ProfileError.
    """
    seen = [find_markers(image, kit) for image in images]
    for image, sighting in zip(images, seen, strict=True):
        if not sighting.is_enough:
            # Says what the picture lacks; not asked otherwise, for another lens than this one is what is sought.
            register(to_gray(image), kit, prior_camera(sighting.size))
    return find_lens(seen, kit)
