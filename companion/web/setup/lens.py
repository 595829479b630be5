"""Finds a camera's lens from the markers of the board in its pictures."""

from __future__ import annotations

from calibration.board_lens import BoardLens, find_lens, find_markers, prior_camera
from calibration.kit import Kit
from vision.drawing import Picture
from vision.pose.registration import register, to_gray


def lens_from(kit: Kit, *images: Picture) -> BoardLens:
    """The lens with which ``images``, of equal size, of a kit's board were taken.

    Raises VisionError, MatNotFound if one shows too little of the board, as reading it would; ProfileError.
    """
    seen = [find_markers(image, kit) for image in images]
    for image, sighting in zip(images, seen, strict=True):
        if not sighting.is_enough:
            # Raises the error that says what is missing; not called otherwise, since it assumes a different lens.
            register(to_gray(image), kit, prior_camera(sighting.size))
    return find_lens(seen, kit)
