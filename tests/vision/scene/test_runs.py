"""Run-length encoded painting gives the same result as painting pixels."""

from __future__ import annotations

import numpy as np
import pytest

from vision.scene.runs import (
    BASE,
    add_polygon,
    clear,
    covered_px,
    fill_run,
    fill_unpainted,
    make_runs,
    make_spans,
    paint,
)

SIZE = (24, 31)
FIRST = 100


def pixels(runs):
    """Return the labels (rows, columns) that runs stand for."""
    return np.array(
        [
            np.repeat(labels[:count], np.diff([*starts[:count], runs.width]))
            for count, starts, labels in zip(runs.counts, runs.starts, runs.labels, strict=True)
        ]
    )


def put(spans, corners, surface):
    """Add a polygon of one surface to the spans."""
    spans.lines[: len(corners)] = np.column_stack([corners, np.roll(corners, -1, axis=0)])
    add_polygon(spans, len(corners), surface)


@pytest.fixture(params=[0, 12])
def spans(rng, request):
    """Return six quadrangles around one place, or scattered; some extend beyond the patch."""
    spans = make_spans((5, 7), SIZE, 6)
    for number in range(6):
        around = np.sort(rng.uniform(0, 2 * np.pi, 4))
        middle, radius = (20, 19) + rng.uniform(-1, 1, 2) * request.param, rng.uniform(3, 14)
        put(spans, middle + radius * np.column_stack([np.cos(around), np.sin(around)]), FIRST + number)
    return spans


@pytest.mark.parametrize("rng", range(20), indirect=True)
def test_runs_show_what_was_painted_last(spans):
    """Runs agree with painted pixels, and clearing removes them."""
    painted, runs = np.full(SIZE, FIRST + BASE, np.int16), make_runs(SIZE, 13)
    paint(painted, spans)
    fill_unpainted(runs, spans, FIRST)
    np.testing.assert_array_equal(pixels(runs), painted - FIRST)
    assert covered_px(runs) == (painted >= FIRST).sum()
    clear(runs)
    assert (pixels(runs) == BASE).all()


@pytest.mark.parametrize("rng", range(20), indirect=True)
def test_a_run_may_lie_anywhere_in_a_row(rng):
    """A run may be inserted anywhere in a row."""
    row, runs = np.full(SIZE[1], BASE), make_runs(SIZE, 41)
    for label in range(20):
        begin, stop = sorted(rng.integers(0, SIZE[1] + 1, 2).tolist())
        row[begin:stop] = label
        runs.counts[3] = fill_run(runs.starts[3], runs.labels[3], runs.counts[3], SIZE[1], (begin, stop), label)
        np.testing.assert_array_equal(pixels(runs)[3], row)


@pytest.fixture
def rng(request):
    """Return a generator seeded by the test's parameter."""
    return np.random.default_rng(request.param)
