"""The bare board as one camera sees it: its illumination, and what it shows where nothing stands."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from calibration.appearance import SetAppearance
from calibration.camera import Camera
from calibration.kit import Kit
from vision.appearance.bare_picture import NO_BARE, BarePicture, bare_levels, bare_picture
from vision.appearance.board_blocks import PlacedBlocks, make_blocks, place_blocks
from vision.appearance.board_light import measure_on_board
from vision.appearance.board_view import BoardView, view_board
from vision.appearance.ground_light import Ground, map_ground, view_ground
from vision.appearance.illumination import Illumination, measure_illumination
from vision.appearance.light_references import References
from vision.inference.geometry import Geometry
from vision.last_value_cache import LastValueCache
from vision.pose.projection import Registration
from vision.scene.configurations import kit_configurations


class BareBoard:
    """Views of a board of a given ``appearance``, each cached while mat and camera stay where they are.

    Attributes:
        blocks: of a learned board; None for another.
    """

    def __init__(self, kit: Kit, appearance: SetAppearance, white: References) -> None:
        """``white``: the kit's references, see :func:`vision.appearance.light_references.references`."""
        self._kit, self._appearance, self._white = kit, appearance, white
        board, configurations = appearance.board, kit_configurations(kit)
        self.blocks = None if board is None else make_blocks(board, white)
        # Shadows are measured of discs, and all but pyramids are compared: no reading has to wait for what that takes.
        is_known = board is not None or appearance.floor is not None
        self._map = map_ground(kit, appearance) if is_known and configurations.are_discs else None
        self._levels = bare_levels(board) if board is not None and configurations.has_faces else None
        self._placed, self._crops = LastValueCache[PlacedBlocks](), LastValueCache[BoardView]()
        self._ground, self._picture = LastValueCache[Ground](), LastValueCache[BarePicture]()

    def light(self, image: npt.NDArray[np.uint8], pose: Registration, camera: Camera) -> Illumination:
        """The illumination in a picture (height, width, 3) uint8 BGR.  Raises VisionError when it is too dark."""
        blocks, view = self.blocks, (pose, camera)
        if blocks is None:
            return measure_illumination(image, self._kit, *view, self._white)
        return measure_on_board(image, self._placed.get(view, partial(place_blocks, blocks, *view)))

    def ground(self, geometry: Geometry) -> Ground:
        """The ground on which shadows of discs are measured."""
        assert self._map is not None, "the ground's colours are known where shadows are looked at"
        return self._ground.get((geometry.crops,), partial(view_ground, self._map, geometry.pose, geometry.camera))

    def picture(self, geometry: Geometry) -> BarePicture:
        """A learned board as seen in the downscaled picture in which explanations are compared; else ``NO_BARE``."""
        levels, prisms = self._levels, geometry.prisms
        if levels is None or prisms is None:
            return NO_BARE
        size, view = prisms.ground.shape, (geometry.pose, geometry.camera)
        make = partial(bare_picture, levels, size, prisms.shrink, *view)
        return self._picture.get((geometry.crops,), make)

    def in_crops(self, geometry: Geometry) -> BoardView | None:
        """A learned board as seen in the crops; None where none was learned."""
        board, crops = self._appearance.board, geometry.crops
        if board is None:
            return None
        return self._crops.get((crops,), partial(view_board, board, crops, geometry.pose, geometry.camera))
