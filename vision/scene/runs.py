"""Rows of a patch as runs of pixels that show one surface (run-length encoding): few numbers, many pixels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int32]
Surfaces = npt.NDArray[np.int16]

BASE = -1
"""Label of runs where what was painted leaves a patch as it was."""


class Spans(NamedTuple):
    """What up to k convex polygons cover of a patch, row by row; the later ones are nearer.

    Attributes:
        origin: x and y of the patch's first pixel.
        size: its height and width.
        many: (1,) how many polygons there are.
        surfaces: (k,) of each.
        rows: (k, 2) first row of each, and the one past its last.
        begins: (k, height) first column of each in each of these rows…
        stops: (k, height) …and the one past its last; no larger where it covers no pixel.
        least: (height,) work array, and so is…
        greatest: (height,) …this one.
    """

    origin: tuple[int, int]
    size: tuple[int, int]
    many: Numbers
    surfaces: Numbers
    rows: Numbers
    begins: Numbers
    stops: Numbers
    least: Floats
    greatest: Floats


class Runs(NamedTuple):
    """The runs of each row of a patch, from the left.

    Attributes:
        counts: (height,) how many.
        starts: (height, m) first column of each.
        labels: (height, m) what each shows.
        width: of the patch.
    """

    counts: Numbers
    starts: Numbers
    labels: Numbers
    width: int


@compiled
def make_spans(origin: tuple[int, int], size: tuple[int, int], most: int) -> Spans:
    """Spans of no polygon, with room for so many."""
    height = size[0]
    return Spans(
        origin,
        size,
        np.zeros(1, np.int32),
        np.empty(most, np.int32),
        np.empty((most, 2), np.int32),
        np.empty((most, height), np.int32),
        np.empty((most, height), np.int32),
        np.empty(height),
        np.empty(height),
    )


@compiled
def add_polygon(spans: Spans, lines: Floats, surface: int) -> None:
    """Add the convex hull of lines (l, 4), x and y of both ends in the picture, px."""
    (left, top), (height, width), number = spans.origin, spans.size, spans.many[0]
    low, high = np.inf, -np.inf
    for line in lines:
        low, high = min(low, line[1], line[3]), max(high, line[1], line[3])
    first, end = max(int(np.ceil(low)) - top, 0), min(int(np.floor(high)) - top + 1, height)
    if first >= end:
        return
    least, greatest = spans.least, spans.greatest
    least[first:end], greatest[first:end] = np.inf, -np.inf
    for line in lines:
        upper, lower = min(line[1], line[3]) - top, max(line[1], line[3]) - top
        slope = (line[2] - line[0]) / (line[3] - line[1]) if line[3] != line[1] else 0.0
        for row in range(max(int(np.ceil(upper)), first), min(int(np.floor(lower)) + 1, end)):
            x = line[0] + (row + top - line[1]) * slope
            least[row], greatest[row] = min(least[row], x), max(greatest[row], x)
    for row in range(first, end):
        spans.begins[number, row] = spans.stops[number, row] = 0
        if least[row] <= greatest[row]:
            spans.begins[number, row] = max(int(np.ceil(least[row])) - left, 0)
            spans.stops[number, row] = min(int(np.floor(greatest[row])) - left + 1, width)
    spans.rows[number, 0], spans.rows[number, 1], spans.surfaces[number] = first, end, surface
    spans.many[0] += 1


@compiled
def paint(patch: Surfaces, spans: Spans) -> None:
    """Paint polygons over a patch (height, width)."""
    for number in range(spans.many[0]):
        for row in range(spans.rows[number, 0], spans.rows[number, 1]):
            for column in range(spans.begins[number, row], spans.stops[number, row]):
                patch[row, column] = spans.surfaces[number]


@compiled
def make_runs(size: tuple[int, int], most: int) -> Runs:
    """Runs of an unpainted patch, with room for so many in a row."""
    height, width = size
    runs = Runs(
        np.empty(height, np.int32), np.empty((height, most), np.int32), np.empty((height, most), np.int32), width
    )
    clear(runs)
    return runs


@compiled
def clear(runs: Runs) -> None:
    """Nothing is painted."""
    for row in range(len(runs.counts)):
        runs.counts[row], runs.starts[row, 0], runs.labels[row, 0] = 1, 0, BASE


@compiled
def lay(runs: Runs, spans: Spans, first: int) -> None:
    """Paint polygons over runs, each labelled by how far its surface is after the ``first``."""
    for number in range(spans.many[0]):
        for row in range(spans.rows[number, 0], spans.rows[number, 1]):
            lay_run(runs, row, (spans.begins[number, row], spans.stops[number, row]), spans.surfaces[number] - first)


@compiled
def lay_run(runs: Runs, row: int, span: tuple[int, int], label: int) -> None:
    """Paint over columns of a row, from the first of ``span`` up to the second."""
    (begin, stop), count, starts, labels = span, runs.counts[row], runs.starts, runs.labels
    if begin >= stop:
        return
    goes_on = int(stop < runs.width)
    kept = count
    while kept > 0 and starts[row, kept - 1] >= begin:
        kept -= 1
    after = kept
    while after < count and starts[row, after] <= stop:
        after += 1
    beyond = labels[row, after - 1]
    moved = kept + 1 + goes_on - after
    if moved > 0:
        for number in range(count - 1, after - 1, -1):
            starts[row, number + moved], labels[row, number + moved] = starts[row, number], labels[row, number]
    elif moved < 0:
        for number in range(after, count):
            starts[row, number + moved], labels[row, number + moved] = starts[row, number], labels[row, number]
    starts[row, kept], labels[row, kept] = begin, label
    if goes_on:
        starts[row, kept + 1], labels[row, kept + 1] = stop, beyond
    runs.counts[row] = count + moved


@compiled
def covered_px(runs: Runs) -> int:
    """How many pixels are painted."""
    total = 0
    for row in range(len(runs.counts)):
        for number in range(runs.counts[row]):
            if runs.labels[row, number] != BASE:
                total += stop_of(runs, row, number) - runs.starts[row, number]
    return total


@compiled
def stop_of(runs: Runs, row: int, number: int) -> int:
    """The column past the last one of a run of a row."""
    return runs.starts[row, number + 1] if number + 1 < runs.counts[row] else runs.width
