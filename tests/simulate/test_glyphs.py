"""Characters made of strokes."""

from __future__ import annotations

import cv2
import numpy as np

from calibration.kit import load_kit
from calibration.strokes import COMPOUNDS, PARTS
from companion.simulate.glyphs import STROKE_SHARE, strokes


def drawn(glyph: str) -> np.ndarray:
    """Return a (40, 40) float image in 0…1 of the slightly blurred character."""
    image = np.zeros((40, 40), np.uint8)
    for bar in strokes(glyph):
        cv2.fillConvexPoly(image, np.round((bar * [1, -1] + 0.5) * 40).astype(np.int32), 255)
    return np.asarray(cv2.GaussianBlur(image, (0, 0), 1.5), np.float64) / 255


def test_every_piece_of_chinese_chess_has_its_character() -> None:
    """No character falls back to made-up strokes."""
    glyphs = [kind.glyph for kind in load_kit("cheight").pieces]
    assert len(glyphs) == 14
    assert all(glyph in PARTS or glyph in COMPOUNDS for glyph in glyphs)


def test_characters_can_be_told_apart() -> None:
    """No two different characters correlate by 0.85 or more, even blurred."""
    images = [drawn(kind.glyph).ravel() for kind in load_kit("cheight").pieces]
    alike = np.corrcoef(images) - np.eye(len(images))
    assert alike.max() < 0.85


def test_characters_stay_within_their_square() -> None:
    """Corners may exceed the square by half a stroke's width."""
    for glyph in (*PARTS, *COMPOUNDS, "Ω"):
        corners = np.vstack(strokes(glyph))
        assert np.abs(corners).max() <= 0.5 + STROKE_SHARE
        assert np.ptp(corners, axis=0).min() > 0.3


def test_unknown_characters_are_the_same_each_time() -> None:
    """Different unknown characters differ from each other."""
    assert all((a == b).all() for a, b in zip(strokes("Ω"), strokes.__wrapped__("Ω"), strict=True))
    assert (drawn("Ω") != drawn("Ψ")).any()
