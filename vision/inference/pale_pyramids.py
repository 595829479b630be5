"""A closer look for pyramids of nearly the ground's colour, by the boundaries between them and the ground.

Light on the ground and on pyramids varies so much that each pixel of a pale face may as well be shaded ground.  But a
pyramid's outline and edges are lines, where ground, and the soft shadows on it, have none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from vision.appearance.tone_curve import BLACK_CODES
from vision.compiled import compiled
from vision.inference.coordinate_ascent import all_scores
from vision.inference.evidence_weights import bounded_colour_evidence
from vision.inference.hypothesis import Hypothesis
from vision.inference.lateral_faces import fit_arguments
from vision.likelihood.hues import hue_density, hue_of
from vision.likelihood.lateral_faces import BOUNDARIES, CloseUp, fit_boundaries
from vision.likelihood.lateral_views import CODES
from vision.likelihood.noise import order_statistic
from vision.scene.crops import Crops

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Picture = npt.NDArray[np.uint8]

CHANNELS = 3

UNLIKE, UNLIKE_HUE, UNLIKE_SHARE = 0.06, 0.04, 0.1
"""Log brightness and hue by which a pixel differs from the median round a cell's middle, and share of such pixels above
which the cell is examined: of 57 pale pyramids in five sets that colours had missed none had less than 0.2, one of them
0.1 by brightness alone; of bare cells 3 to 17 in 100 have more."""

INVISIBLE_PROBABILITY = 0.05
"""Probability that a pale pyramid's edges are not visible, where its faces happen to be as bright as what is beside
them.  Of 180 pyramids in three sets, two of them pale, none lacked edges as much as the median of bare cells, and 5 %
as much as that of the most shaded ones."""

SHADOW_EDGES = 0.05
"""Probability that bare ground shows a pyramid's edges, since hard shadows end there: of 150 bare cells that were
examined four had more than 3 nats for one, up to 16, three of them beside one hard lamp; of 18 pyramids all had 12."""

PIECE_HUE, GROUND_HUE = 0.02, 0.012
"""Standard deviations of the difference in hue (:mod:`vision.likelihood.hues`) between a pyramid's faces and their
surroundings about that of their colours, and between two places of the ground, as in a shadow.  Of 31 pale pyramids and
46 bare cells of two sets the largest were 0.04, of a large one in deep shade, and 0.024."""

STRAY_HUES = (0.03, 0.04)
"""How often the difference is any other, as for the colour of a piece that a face reflects, and the area of all of
these."""

NO_STRAY_HUES = (0.0, 1.0)

PALER, PALER_SHARE = np.linspace(0.3, 1.0, 8), 0.4
"""Shares of a piece's difference in hue from the floor that its faces may have, and how often they do: they reflect
white, or were enrolled in deep shade, where light reflected by others tints them.  With 0.2 in place of 0.4, or from
0.5 on, a set whose pink faces were enrolled so (0.07 off) had 6.1 and 6.7 nats in place of 5.4, without this 13.2."""

EMPTY_NATS = 20.0
"""A cell that colours find empty by more than this is taken to be: of 43 pale pyramids they had missed none by more
than 12, and where pieces have strong colours bare cells have some 40, shaded ones 18 at least."""

STANDS_NATS, HARDLY_NATS = 40.0, 5.0
"""A tower that colours find by less than this may be ground in the glare of a lamp: up to the first if it looks even,
up to the second whatever it looks like.  Nine such cells of one picture had up to 31, six of them even, the others 1 at
most."""


def find_pale_pyramids(
    image: Picture,
    hypothesis: Hypothesis,
    close_up: CloseUp,
    colours: tuple[Floats, Floats],
    board: Callable[[Sequence[Crops]], list[tuple[Array, Array]]] | None = None,
) -> None:
    """Rescore updated cells that seem empty but do not look even, and towers that may be ground.

    Ground in the glare of a lamp is paler than the light over the mat explains, as a pale pyramid is; but it has no
    edges, and keeps its own hue.  The evidence of single pixels' colours is bounded, as they may be misled, see
    :func:`.evidence_weights.bounded_colour_evidence`.  The hue of a whole tower tells more: shade hardly
    changes by how much it differs from that of the ground round it.

    Args:
        image: (height, width, 3) uint8, BGR.
        hypothesis: whose scores are changed.
        close_up: of its pose.
        colours: (colours, 3) reflectances of the pieces, and (3,) of bare floor, r g b.
        board: what the bare board shows in crops, as in
            :class:`vision.likelihood.lateral_faces.CellGround`, where its appearance was learned.  Squares of many
            colours have no usual hue: there boundaries alone decide.
    """
    pieces, floor = colours
    expected, log_prior = hue_of(pieces) - hue_of(floor), hypothesis.geometry.configurations.log_prior[:, None]
    for cell in _in_doubt(hypothesis, has_hue=board is None).tolist():
        by_pixel = all_scores(hypothesis, cell) - log_prior
        if by_pixel.max() < -EMPTY_NATS:
            continue
        bare = None if board is None else board([close_up.of(cell, BOUNDARIES.per_mm).crops])[0]
        towers = fit_boundaries(image, close_up, *fit_arguments(hypothesis, cell, floor, bare))
        # The surroundings of a tower may hold the tip of another one, or its own rim; the light may have another tint.
        by_hue = (
            0.0 if towers.hue is None else np.mean([hue_log_ratio(apart, expected) for apart in towers.hue], axis=0)
        )
        likeliest, turned = by_pixel.max(axis=1, keepdims=True), len(by_pixel) // len(towers.log_ratio)
        seen_nats = bounded_boundary_log_ratio(towers.log_ratio)[:, None] + by_hue
        most = max(0.0, float(likeliest.max()))
        by_tower = (
            bounded_colour_evidence(likeliest - most)
            + np.repeat(seen_nats, turned, axis=0)
            - bounded_colour_evidence(np.array([-most]))
        )
        by_tower += log_prior
        scores = np.append(0.0, by_pixel - likeliest + by_tower).astype(np.float32)
        if hypothesis.state[cell] > 0 and scores.argmax() > 0:
            # Which tower it is, is better decided by the faces of those that are in doubt.
            surely = hypothesis.scores[cell, 1:].max()
            scores[1:] = hypothesis.scores[cell, 1:] + (scores[1:].max() - surely)
        hypothesis.set_scores(np.array([cell]), scores[None])
        if (likeliest_state := int(scores.argmax())) != hypothesis.state[cell]:
            hypothesis.assign(cell, likeliest_state)


def bounded_boundary_log_ratio(log_ratio: Floats) -> Floats:
    """``log_ratio`` of pyramids against bare ground by boundaries, bounded as these may be unseen, or a shadow's."""
    nats: Floats = np.logaddexp(np.log(INVISIBLE_PROBABILITY), log_ratio) - np.logaddexp(
        0.0, np.log(SHADOW_EDGES) + log_ratio
    )
    return nats


def hue_log_ratio(shown: Floats, expected: Floats) -> Floats:
    """(f, colours) log-likelihood ratio of pieces against ground, from differences of hue.

    ``shown`` (f, 2): difference in hue between each tower and its surroundings; ``expected`` (colours, 2): between each
    colour and the floor.
    """
    towers = shown[:, None]
    own = hue_density(towers, expected, PIECE_HUE, NO_STRAY_HUES)
    paler = np.mean([hue_density(towers, share * expected, PIECE_HUE, NO_STRAY_HUES) for share in PALER], axis=0)
    stray, area = STRAY_HUES
    pieces = (1 - stray) * ((1 - PALER_SHARE) * own + PALER_SHARE * paler) + stray / area
    ratio: Floats = np.log(pieces / hue_density(towers, np.zeros(2), GROUND_HUE, STRAY_HUES))
    return ratio


def _in_doubt(hypothesis: Hypothesis, *, has_hue: bool) -> Indices:
    """(b,) updated cells that seem empty but do not look even; and, where hues are used, towers that may be ground.

    The latter look even, or are hardly likelier than ground.
    """
    likely, is_empty = hypothesis.scores[:, 1:].max(axis=1), hypothesis.state == 0
    cells = np.flatnonzero(hypothesis.updated & (is_empty | (has_hue & (likely < STANDS_NATS))))
    if not cells.size:
        return cells
    is_even = unlike_shares(hypothesis.observations.codes, cells, hypothesis.geometry.rows_round) <= UNLIKE_SHARE
    return cells[np.where(is_empty[cells], ~is_even, is_even | (likely[cells] < HARDLY_NATS))]


@compiled
def unlike_shares(codes: Picture, cells: Indices, rows: tuple[int, int]) -> Array:
    """(b,) share of the pixels round the middles of ``cells`` (b,) unlike the median there, in brightness or in hue.

    ``codes`` (n, rows, columns, 3) uint8 b g r of all cells' crops; ``rows``: the first, and the one after the last.
    """
    shares, usual, pixels = np.zeros(len(cells), np.float32), np.empty(CHANNELS), (rows[1] - rows[0]) * codes.shape[2]
    logs = np.log(np.arange(CODES) + BLACK_CODES)
    for k in range(len(cells)):
        counts = np.zeros((CHANNELS, CODES), np.int32)
        for row in range(rows[0], rows[1]):
            for column in range(codes.shape[2]):
                for channel in range(CHANNELS):
                    counts[channel, codes[cells[k], row, column, channel]] += 1
        for channel in range(CHANNELS):
            usual[channel] = logs[order_statistic(counts[channel], pixels // 2)]
        for row in range(rows[0], rows[1]):
            for column in range(codes.shape[2]):
                b, g, r = codes[cells[k], row, column]
                blue, green, red = logs[b] - usual[0], logs[g] - usual[1], logs[r] - usual[2]
                off_hue2 = (blue - green) ** 2 + (red - green) ** 2
                if abs(blue + green + red) / CHANNELS > UNLIKE or off_hue2 > UNLIKE_HUE**2:
                    shares[k] += 1
        shares[k] /= pixels
    return shares
