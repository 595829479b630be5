"""What is seen of a piece, row by row."""

import cv2
import numpy as np

from vision.scene.prisms import DISC_SIDES, PER_PIECE, Prisms, span_stack
from vision.scene.runs import make_spans, paint

SIZE = (60, 70)
ACROSS_PX, ALONG_PX, UP_PX, SHRINKS = 20.0, 9.0, 14.0, 1.05


def test_a_disc_hides_what_the_outline_of_both_its_ends_encloses():
    angle = np.arange(DISC_SIDES) * (2 * np.pi / DISC_SIDES) + 0.1
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    foot = np.array([[ACROSS_PX, 0, 35.3], [0, -ALONG_PX, 40.2]])
    face = foot * SHRINKS - [[0, 0, 1.6], [0, 0, UP_PX]]
    none = np.zeros((1, 1), np.intp)
    prisms = Prisms(
        np.array([[foot, face]]),
        ring[None],
        none,
        none,
        none + 1,
        np.ones(1, np.intp),
        np.zeros((1, 8, 2)),
        np.zeros(1, np.bool_),
        np.zeros(SIZE, np.int16),
        np.zeros((0, 2), np.intp),
        1,
    )
    spans, seen = make_spans((0, 0), SIZE, PER_PIECE), np.zeros(SIZE, np.int16)
    span_stack(spans, prisms, (0, 1, 0), np.zeros((1, 3)))
    spans.many[0] = 1  # without the upper face, which is nearer
    paint(seen, spans)
    both = np.vstack([ring @ level[:, :2].T + level[:, 2] for level in (foot, face)])
    outline = cv2.convexHull(both.astype(np.float32))
    inside = [[cv2.pointPolygonTest(outline, (x, y), True) for x in range(SIZE[1])] for y in range(SIZE[0])]
    far_from_edge = np.abs(inside) > 0.01
    np.testing.assert_array_equal((seen > 0)[far_from_edge], (np.array(inside) > 0)[far_from_edge])
