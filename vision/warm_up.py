"""Compile all loops before the first picture comes; otherwise each is compiled on its first call.

That takes two to three minutes for one kit; if the compiler's cache holds them, they are loaded in two seconds.
``python -m vision.warm_up`` compiles them for all kits that are shipped, ``python -m vision.warm_up KIT …`` for some.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.appearance import GLYPH_ANGLES, GLYPH_RADII, SetAppearance, nominal_appearance
from calibration.board_appearance import BoardAppearance, unknown_board
from calibration.camera import Camera
from calibration.errors import ProfileError
from calibration.kit import Kit, available_kits, load_kit
from calibration.srgb import display
from vision.appearance.hard_shadow import relight
from vision.appearance.two_levels import fit_two_levels
from vision.capture.frames import Frame
from vision.compiled import delete_stale_caches
from vision.frame_average import TOGETHER_S, FrameAverage
from vision.glyphs.face_detection import centre_faces
from vision.glyphs.faces import distances_mm
from vision.glyphs.ring import find_ring
from vision.inference.comparison import compare_in_doubt, stacks_of
from vision.inference.coordinate_ascent import rescore_placed
from vision.inference.evidence_weights import combine_scores, reweight_heights
from vision.inference.geometry import Geometry, make_geometry
from vision.inference.hypothesis import Hypothesis
from vision.inference.line_comparison import compare_with_line, compare_with_tower
from vision.inference.picture_view import make_view
from vision.inference.render_and_compare import compare
from vision.inference.ring_heights import radius_range
from vision.inference.surfaces import surface_log_ratios
from vision.likelihood.denoising import denoise
from vision.motion import MotionDetector
from vision.pose.projection import Points, Registration
from vision.reader import Reader
from vision.scene.silhouettes import covers_points
from vision.scene.solids import are_inside, hull
from vision.scene.terrain import SUBPIXEL_BITS, to_fixed_point

ELEVATION_DEG = 60.0
"""Elevation of the synthetic camera, about that of a camera over a table."""

RING_SHARE = 0.7
"""Radius of the ring on a synthetic disc, as a share of the disc's."""

GRAIN = 0.02
"""Standard deviation of display values on a synthetic board."""

PAPER = 0.6
"""Light reflected by the synthetic paper, linear."""


def warm_up(reader: Reader) -> None:
    """Make ``reader`` watch and read a synthetic board with one piece on it."""
    reader.prepare()
    geometry = make_geometry(reader.kit, reader.levels, _pose(reader.kit, reader.camera), reader.camera)
    picture = _drawn(reader.kit, reader.appearance, geometry)
    watch = MotionDetector(reader.kit, reader.camera)
    exposure = FrameAverage()
    for t_s, frame in enumerate((picture, 255 - picture)):
        watch.process(frame)
        exposure.add(frame, t_s * TOGETHER_S)
    levels = reader.levels or None
    asked = levels if levels is None or reader.kit.pillars is None else (None, *levels[1:])
    for told, changed in ((asked, None), (levels, np.arange(len(reader.kit.cells)) < 2)):
        reader.read_at(Frame(picture, 0, 0.0), geometry, told, changed)
    denoise(picture, geometry.mat_px, 1.0, 0.0)  # where all is explained noise may not be looked for
    _remove_shadow(picture)
    # A single piece gives block moves nothing to propose.
    light = reader.light(picture, geometry.pose)
    observations = reader.observations(picture, geometry, light)
    hypothesis = Hypothesis(observations, np.array(reader.appearance.rim, np.float32), geometry)
    hypothesis.log_likelihood(np.arange(1), 0)
    hypothesis.invalidate_neighbours(0, 1)
    covers_points(hypothesis.silhouettes, 0, geometry.crops.origin_px)
    are_inside(geometry.crops.origin_px, geometry.mat_px)
    if geometry.prisms is not None:  # where nothing is in doubt nothing is compared
        tried = np.ones(1 + len(geometry.prisms.counts), np.bool_)
        likely = compare(picture, hypothesis, 0, tried)
        view, stacks = make_view(picture, geometry, geometry.prisms), stacks_of(hypothesis, geometry.prisms)
        compare_in_doubt(view, geometry.prisms, hypothesis, stacks, (0, likely, tried), 0.0)
        likely = reweight_heights(likely, likely, tried, geometry.prisms.counts)
        combine_scores(hypothesis.scores[0, 1:].reshape(-1, hypothesis.colours), likely, likely, tried)
        hypothesis.assign(0, 1)
        if geometry.configurations.is_single_size:
            hypothesis.assign(1, 1)
            stacks = stacks_of(hypothesis, geometry.prisms)
            compare_with_line(view, geometry.prisms, hypothesis, stacks, (0, 1), is_bare=True, sure_nats=0.0)
            if geometry.configurations.has_plain_faces:
                compare_with_tower(view, geometry.prisms, hypothesis, stacks, (0, 1))
        reader.look_at_shadows(picture, hypothesis, light)
        reader.bare.picture(geometry)
    if reader.appearance.board is not None:  # where all is as on the board no surface is looked at
        surface_log_ratios(hypothesis, 0, np.ones(len(geometry.configurations.all), np.bool_))
    if reader.appearance.ring_mm is not None:  # where nothing is in doubt no ring is looked for
        face, labels = geometry.faces.select(np.zeros(1, np.intp)), hypothesis.labels()
        centre_faces(picture, face, labels, reader.appearance.ring_mm)
        distances_mm(face, face)
        find_ring(picture, face, labels, radius_range(reader.appearance.ring_mm))
    if reader.appearance.glyphs:  # where no character is legible no face is put elsewhere
        rescore_placed(hypothesis, np.zeros(1, np.intp), np.zeros((1, 1), np.intp), np.zeros((1, 1, 2), np.float32))
    if geometry.close_up is not None:  # where nothing is in doubt no tower is looked at closely, nor a pale one for
        reader.score_lateral_faces(picture, hypothesis, light)
        hypothesis.set_scores(np.zeros(1, np.intp), np.ones_like(hypothesis.scores[:1]))
        reader.score_lateral_faces(picture, hypothesis, light, {0: np.arange(1)})


def _remove_shadow(picture: npt.NDArray[np.uint8]) -> None:
    """Call the loops that remove a hard shadow: the synthetic board has none."""
    x, y = np.mgrid[-1:1:16j, -1:1:16j]
    terms = np.column_stack([np.ones(x.size), x.ravel(), y.ravel()])
    fit_two_levels(terms, np.repeat(np.where(terms[:, 1:2] > 0, -1.0, 0.0), 3, axis=1))
    relight(picture, np.zeros(picture.shape[:2], np.uint8), np.zeros((256, 3, 256), np.uint8))


def main(names: Sequence[str] = ()) -> None:
    """Compile for the named shipped kits, for all if none is named.  Raises ProfileError for an unknown kit.

    On an own board pyramids are examined by loops of their own; for other pieces that hardly adds anything.
    """
    camera = Camera(1280, 720, np.array([[1000.0, 0, 640], [0, 1000, 360], [0, 0, 1]]), np.zeros(5), 0.0)
    for name in names or available_kits():
        kit = load_kit(name)
        levels = (0,) * len(kit.cells) if kit.board.terrain_step_mm else ()
        shape = kit.pieces[0].shape
        appearance = nominal_appearance(kit)
        glyphs = dict.fromkeys(appearance.inks, bytes(GLYPH_RADII * GLYPH_ANGLES * 2))
        ring_mm = RING_SHARE * kit.pieces[0].width_mm / 2 if shape == "disc" else None
        appearance = replace(appearance, glyphs=glyphs, ring_mm=ring_mm)
        warm_up(Reader(kit, camera, appearance, levels))
        if shape == "pyramid":
            warm_up(Reader(kit, camera, replace(appearance, board=_even_board(kit)), levels))
    delete_stale_caches()


def _even_board(kit: Kit) -> BoardAppearance:
    """The appearance of a board that is white paper all over."""
    unknown = unknown_board(kit.mat.width_mm, kit.mat.height_mm)
    spread = np.full_like(unknown.spread, GRAIN)
    return BoardAppearance(np.ones_like(unknown.colour), spread, np.ones_like(unknown.seen))


def _pose(kit: Kit, camera: Camera) -> Registration:
    """A camera pose from which the mat fills about half of the picture's width, or two thirds of its height."""
    per_px = max(2 * kit.mat.width_mm / camera.width_px, 1.5 * kit.mat.height_mm / camera.height_px)
    away_mm = per_px * float(camera.matrix[0, 0])
    elevation = np.radians(ELEVATION_DEG)
    centre = away_mm * np.array([0.0, -np.cos(elevation), np.sin(elevation)])
    forward, right = -centre / away_mm, np.array([1.0, 0.0, 0.0])
    rotation = np.array([right, np.cross(forward, right), forward])
    return Registration(rotation, -rotation @ centre, (), 0.0)


def _drawn(kit: Kit, appearance: SetAppearance, geometry: Geometry) -> npt.NDArray[np.uint8]:
    """(height, width, 3) uint8 BGR: white paper, and the smallest piece of one colour on the middle square."""
    picture = np.full((*geometry.size, 3), _code((1.0, 1.0, 1.0)), np.uint8)
    cell, configuration = len(kit.cells) // 2, 0
    letter = next(letters[0] for letters in geometry.configurations.letters[configuration] if letters)
    corners_px = geometry.outlines.corners_px(geometry.crops, cell, configuration, np.zeros(2))
    cv2.fillConvexPoly(
        picture, to_fixed_point(hull(corners_px)), _code(appearance.pieces[letter]).tolist(), shift=SUBPIXEL_BITS
    )
    return picture


def _code(reflectance: tuple[float, float, float]) -> Points:
    """(3,) code b g r, 0…255, of a surface in the drawn light."""
    return 255 * display(PAPER * np.array(reflectance[::-1]))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ProfileError as error:
        sys.exit(f"vision.warm_up: {error}")
