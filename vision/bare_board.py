"""The bare board as one camera sees it: its illumination, and what it shows where nothing stands."""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from calibration.appearance import SetAppearance
from calibration.camera import Camera
from calibration.kit import Kit
from vision.appearance.bare_picture import NO_BARE, BareLevels, BarePicture, bare_levels, bare_picture
from vision.appearance.board_blocks import PlacedBlocks, make_blocks, place_blocks
from vision.appearance.board_light import measure_on_board
from vision.appearance.board_view import BoardView, view_board
from vision.appearance.ground_light import Ground, GroundMap, map_ground, view_ground
from vision.appearance.illumination import Illumination, measure_illumination
from vision.appearance.light_references import References
from vision.inference.geometry import Geometry
from vision.last_value_cache import LastValueCache
from vision.pose.projection import Registration


class BareBoard:
    """Views of a board of a given ``appearance``, each cached while mat and camera stay where they are.

    Attributes:
        blocks: of a learned board; None for another.
    """

    def __init__(self, kit: Kit, appearance: SetAppearance, white: References) -> None:
        """``white``: the kit's references, see :func:`vision.appearance.light_references.references`."""
        self._kit, self._appearance, self._white = kit, appearance, white
        self.blocks = None if appearance.board is None else make_blocks(appearance.board, white)
        self._placed, self._crops = LastValueCache[PlacedBlocks](), LastValueCache[BoardView]()
        self._ground, self._picture = LastValueCache[Ground](), LastValueCache[BarePicture]()

    def light(self, image: npt.NDArray[np.uint8], pose: Registration, camera: Camera) -> Illumination:
        """The illumination in a picture (height, width, 3) uint8 BGR.  Raises VisionError when it is too dark."""
        blocks, view = self.blocks, (pose, camera)
        if blocks is None:
            return measure_illumination(image, self._kit, *view, self._white)
        return measure_on_board(image, self._placed.get(view, partial(place_blocks, blocks, *view)))

    def ground(self, geometry: Geometry) -> Ground:
        """The ground on which shadows are measured."""
        return self._ground.get((geometry.crops,), partial(view_ground, self._map, geometry.pose, geometry.camera))

    def picture(self, geometry: Geometry) -> BarePicture:
        """A learned board as seen in the downscaled picture in which explanations are compared; else ``NO_BARE``."""
        board, prisms = self._appearance.board, geometry.prisms
        if board is None or prisms is None:
            return NO_BARE
        size, view = prisms.ground.shape, (geometry.pose, geometry.camera)
        make = partial(bare_picture, self._levels, size, prisms.shrink, *view)
        return self._picture.get((geometry.crops,), make)

    def in_crops(self, geometry: Geometry) -> BoardView | None:
        """A learned board as seen in the crops; None where none was learned."""
        board, crops = self._appearance.board, geometry.crops
        if board is None:
            return None
        return self._crops.get((crops,), partial(view_board, board, crops, geometry.pose, geometry.camera))

    @cached_property
    def _map(self) -> GroundMap:
        return map_ground(self._kit, self._appearance)

    @cached_property
    def _levels(self) -> BareLevels:
        assert self._appearance.board is not None, "only learned boards are rendered"
        return bare_levels(self._appearance.board)
