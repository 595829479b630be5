"""The assessment of a lens calibration and the advice given with it."""

import numpy as np
import pytest

from calibration.camera import Camera
from calibration.lens import LensCalibration
from calibration.quality import advice, gaps, quality


def calibration(error_px=0.1, focal=0.001, missing=()):
    """Return a calibration with this error and focal deviation, and gaps in the coverage at (row, column)."""
    coverage = np.ones((3, 4), bool)
    for row, column in missing:
        coverage[row, column] = False
    return LensCalibration(Camera(1280, 720, np.eye(3), np.zeros(5), error_px), (), (), coverage, focal)


@pytest.mark.parametrize(
    ("result", "word", "lines"),
    [
        (calibration(), "good", ()),
        (calibration(error_px=0.7), "usable", ("take sharper pictures",)),
        (calibration(error_px=1.4), "poor", ("take sharper pictures",)),
        (calibration(focal=0.004), "usable", ("take more pictures, near and far",)),
        (calibration(focal=0.02), "poor", ("take more pictures, near and far",)),
        (calibration(missing=[(0, 3)]), "usable", ("take more pictures with the board in the top right corner of",)),
        (
            calibration(0.7, 0.02, [(0, 0), (1, 0), (2, 0)]),
            "poor",
            (
                "take sharper",
                "take more pictures with the board at the left edge of the picture",
                "take more pictures, near",
            ),
        ),
    ],
)
def test_a_word_and_what_to_do(result, word, lines):
    """Each calibration gets its rating and advice."""
    assert quality(result) == word
    assert len(advice(result)) == len(lines)
    for said, begin in zip(advice(result), lines, strict=True):
        assert said.startswith(begin)


@pytest.mark.parametrize(
    ("missing", "places"),
    [
        ([], ()),
        ([(1, 1), (1, 2)], ("in the middle",)),
        ([(2, 0), (2, 1), (2, 2), (2, 3)], ("at the bottom edge",)),
        ([(0, 1), (2, 0), (1, 3)], ("at the top edge", "at the right edge", "in the bottom left corner")),
        ([(r, c) for r in range(3) for c in range(4)], ("in every part",)),
    ],
)
def test_gaps_are_named_by_their_places(missing, places):
    """Gaps in the coverage are described by their position."""
    coverage = calibration(missing=missing).coverage
    assert gaps(coverage) == places
    assert coverage.sum() == 12 - len(missing)
