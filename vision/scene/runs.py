"""Rows of a patch as runs of pixels that show one surface (run-length encoding)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int32]
Surfaces = npt.NDArray[np.int16]

BASE = -1
"""Label of runs where nothing is painted over the patch."""

MAX_LINES = 32
"""Maximum number of lines of one polygon: of a disc's side 16 on its foot, and as many from there to its face."""


class Spans(NamedTuple):
    """The pixels of a patch that up to k convex polygons cover, row by row; the later ones are nearer.

    Attributes:
        origin: x and y of the patch's first pixel.
        size: its height and width.
        many: (1,) number of polygons.
        surfaces: (k,) surface number of each.
        rows: (k, 2) first row of each, and the one past its last.
        begins: (k, height) first column of each in each of these rows…
        stops: (k, height) …and the one past its last; no larger where it covers no pixel.
        lines: (l, 4) work array, and so are…
        rings: (2, l / 2, 2) …a piece's outlines at its foot and farther up, px…
        extent: (2, height) …the least and the greatest x in each row…
        from_middle: (2, 4 k + 1) …and start and surface of the runs of a row.
    """

    origin: tuple[int, int]
    size: tuple[int, int]
    many: Numbers
    surfaces: Numbers
    rows: Numbers
    begins: Numbers
    stops: Numbers
    lines: Floats
    rings: Floats
    extent: Floats
    from_middle: Numbers


class Runs(NamedTuple):
    """The runs of each row of a patch, from the left.

    Attributes:
        counts: (height,) number of runs.
        starts: (height, m) first column of each.
        labels: (height, m) label of each.
        painted: (2,) the first row that may have been painted, and the one past the last.
        width: of the patch.
    """

    counts: Numbers
    starts: Numbers
    labels: Numbers
    painted: Numbers
    width: int


@compiled
def make_spans(origin: tuple[int, int], size: tuple[int, int], most: int) -> Spans:
    """Empty spans with room for ``most`` polygons."""
    height = size[0]
    return Spans(
        origin,
        size,
        np.zeros(1, np.int32),
        np.empty(most, np.int32),
        np.empty((most, 2), np.int32),
        np.empty((most, height), np.int32),
        np.empty((most, height), np.int32),
        np.empty((MAX_LINES, 4)),
        np.empty((2, MAX_LINES // 2, 2)),
        np.empty((2, height)),
        np.empty((2, 4 * most + 1), np.int32),
    )


@allocation_free
def add_polygon(spans: Spans, count: int, surface: int) -> None:
    """Add the convex hull of the first ``count`` lines of ``spans``, each x and y of both ends, px in the picture."""
    (left, top), (height, width), number, lines = spans.origin, spans.size, spans.many[0], spans.lines
    low, high = np.inf, -np.inf
    for k in range(count):
        low, high = min(low, lines[k, 1], lines[k, 3]), max(high, lines[k, 1], lines[k, 3])
    first, end = max(int(np.ceil(low)) - top, 0), min(int(np.floor(high)) - top + 1, height)
    if first >= end:
        return
    _extend(spans.extent, lines, count, top, first, end)
    begins, stops, extent = spans.begins, spans.stops, spans.extent
    for row in range(first, end):
        begins[number, row] = stops[number, row] = 0
        if extent[0, row] <= extent[1, row]:
            begins[number, row] = max(int(np.ceil(extent[0, row])) - left, 0)
            stops[number, row] = min(int(np.floor(extent[1, row])) - left + 1, width)
    spans.rows[number, 0], spans.rows[number, 1], spans.surfaces[number] = first, end, surface
    spans.many[0] = number + 1


@allocation_free
def _extend(extent: Floats, lines: Floats, count: int, top: int, first: int, end: int) -> None:
    """The least and the greatest x of lines in the rows from ``first`` to ``end``; row 0 is at y = ``top``."""
    for row in range(first, end):
        extent[0, row], extent[1, row] = np.inf, -np.inf
    for k in range(count):
        x, y = lines[k, 0], lines[k, 1]
        upper, lower = min(y, lines[k, 3]) - top, max(y, lines[k, 3]) - top
        slope = (lines[k, 2] - x) / (lines[k, 3] - y) if lines[k, 3] != y else 0.0
        for row in range(max(int(np.ceil(upper)), first), min(int(np.floor(lower)) + 1, end)):
            at = x + (row + top - y) * slope
            extent[0, row], extent[1, row] = min(extent[0, row], at), max(extent[1, row], at)


@allocation_free
def paint(patch: Surfaces, spans: Spans) -> None:
    """Paint polygons over a patch (height, width)."""
    begins, stops, rows = spans.begins, spans.stops, spans.rows
    for number in range(spans.many[0]):
        surface = np.int16(spans.surfaces[number])
        for row in range(rows[number, 0], rows[number, 1]):
            for column in range(begins[number, row], stops[number, row]):
                patch[row, column] = surface


@compiled
def make_runs(size: tuple[int, int], most: int) -> Runs:
    """Runs of an unpainted patch, with room for ``most`` per row."""
    height, width = size
    starts, labels = np.empty((height, most), np.int32), np.empty((height, most), np.int32)
    runs = Runs(np.empty(height, np.int32), starts, labels, np.array([0, height], np.int32), width)
    clear(runs)
    return runs


@allocation_free
def clear(runs: Runs) -> None:
    """Reset all runs to unpainted."""
    counts, starts, labels = runs.counts, runs.starts, runs.labels
    for row in range(runs.painted[0], runs.painted[1]):
        counts[row], starts[row, 0], labels[row, 0] = 1, 0, BASE
    runs.painted[0], runs.painted[1] = len(counts), 0


@allocation_free
def fill_unpainted(runs: Runs, spans: Spans, first: int) -> None:
    """Paint polygons over unpainted runs, each labelled by its surface number less the ``first``."""
    counts, starts, labels, painted = runs.counts, runs.starts, runs.labels, runs.painted
    rows, from_middle = spans.rows, spans.from_middle
    for number in range(spans.many[0]):
        painted[0], painted[1] = min(painted[0], rows[number, 0]), max(painted[1], rows[number, 1])
    for row in range(painted[0], painted[1]):
        before, after, stop = _nearest_first(spans, row)
        if stop < 0:
            _lay_row(runs, spans, row, first)
        elif stop > 0:
            count = int(from_middle[0, before] > 0)
            for number in range(before, after):
                starts[row, count], labels[row, count] = from_middle[0, number], from_middle[1, number] - first
                count += 1
            if stop < runs.width:
                starts[row, count], labels[row, count] = stop, BASE
                count += 1
            counts[row] = count


@allocation_free
def _nearest_first(spans: Spans, row: int) -> tuple[int, int, int]:
    """Put the starts and surfaces of a row's runs into ``from_middle`` of ``spans``, the nearest one's in the middle.

    What is farther is only visible to the left and to the right of that.  Whether it is, is added without a branch,
    since where edges of pieces coincide a processor could not predict it.

    Returns where the runs begin there, the one past the last, and the column past what is painted: 0 where nothing is,
    -1 where a polygon does not touch the nearer ones, so that a farther one may be visible between them.
    """
    begins, stops, rows, from_middle = spans.begins, spans.stops, spans.rows, spans.from_middle
    before, after, left, right = 2 * len(rows), 2 * len(rows), 0, 0
    for number in range(spans.many[0] - 1, -1, -1):
        begin, stop = begins[number, row], stops[number, row]
        if row < rows[number, 0] or row >= rows[number, 1] or begin >= stop:
            continue
        if before == after:
            left, right = begin, begin
        elif stop < left or begin > right:
            return before, after, -1
        from_middle[0, after], from_middle[1, after] = right, spans.surfaces[number]
        after += int(stop > right)
        from_middle[0, before - 1], from_middle[1, before - 1] = begin, spans.surfaces[number]
        before -= int(begin < left)
        left, right = min(left, begin), max(right, stop)
    return before, after, right


@allocation_free
def _lay_row(runs: Runs, spans: Spans, row: int, first: int) -> None:
    """See :func:`fill_unpainted`; one row, from the farthest polygon to the nearest."""
    starts, labels = runs.starts[row], runs.labels[row]
    for number in range(spans.many[0]):
        if spans.rows[number, 0] <= row < spans.rows[number, 1]:
            span, label = (spans.begins[number, row], spans.stops[number, row]), spans.surfaces[number] - first
            runs.counts[row] = fill_run(starts, labels, runs.counts[row], runs.width, span, label)


@allocation_free
def fill_run(starts: Numbers, labels: Numbers, count: int, width: int, span: tuple[int, int], label: int) -> int:
    """Paint columns of a row of ``count`` runs, from the first of ``span`` up to the second; the new number of runs.

    ``starts`` and ``labels`` (m,): as in :class:`Runs`.
    """
    begin, stop = span
    if begin >= stop:
        return count
    goes_on = int(stop < width)
    kept = count
    while kept > 0 and starts[kept - 1] >= begin:
        kept -= 1
    after = kept
    while after < count and starts[after] <= stop:
        after += 1
    beyond = labels[after - 1]
    moved = kept + 1 + goes_on - after
    if moved > 0:
        for number in range(count - 1, after - 1, -1):
            starts[number + moved], labels[number + moved] = starts[number], labels[number]
    elif moved < 0:
        for number in range(after, count):
            starts[number + moved], labels[number + moved] = starts[number], labels[number]
    starts[kept], labels[kept] = begin, label
    if goes_on:
        starts[kept + 1], labels[kept + 1] = stop, beyond
    return count + moved


@allocation_free
def covered_px(runs: Runs) -> int:
    """Number of painted pixels."""
    total = 0
    for row in range(runs.painted[0], runs.painted[1]):
        for number in range(runs.counts[row]):
            if runs.labels[row, number] != BASE:
                total += run_end(runs, row, number) - runs.starts[row, number]
    return total


@allocation_free
def run_end(runs: Runs, row: int, number: int) -> int:
    """The column past the last one of a run of a row."""
    return runs.starts[row, number + 1] if number + 1 < runs.counts[row] else runs.width
