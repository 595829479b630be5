"""Evidence derived from readings: order, hidden cells, probability floors, and unchanged pictures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from companion.rules.board import Layout
from companion.tracker.evidence import (
    ALONE_NATS,
    HAND_THRESHOLD,
    OCCLUSION_THRESHOLD,
    OUTLIER_PROBABILITY,
    SAME_NATS,
    UNKNOWN,
    UNSEEN_NATS,
    cells_against,
    changed_cells,
    combine,
    evidence_of,
    shows_hand,
    touched_cells,
)
from vision.reading import Reading

LAYOUT = Layout(3, 1)
STATES = ((0, None), (1, "R"), (2, "R"), (1, "G"))


def reading(
    *probable: int, cells: tuple[str, ...] = ("a1", "b1", "c1"), outlier_share: float = 0.0, sure: float = 1.0
) -> Reading:
    """Return a reading in which each cell has the state with index ``probable`` with probability ``sure``."""
    p = np.full((len(cells), len(STATES)), (1 - sure) / (len(STATES) - 1))
    p[np.arange(len(cells)), probable] = sure
    with np.errstate(divide="ignore"):
        log_p = np.log(p).astype(np.float32)
    return Reading(cells, STATES, log_p, np.full(len(cells), outlier_share, dtype=np.float32))


def test_no_cell_speaks_with_more_than_the_floor_allows() -> None:
    """The log-likelihood range of a cell is bounded even if the reading is certain."""
    evidence = evidence_of(LAYOUT, reading(1, 0, 3))
    worst = evidence.log_p.max(axis=1) - evidence.log_p.min(axis=1)
    assert worst == pytest.approx(-np.log(OUTLIER_PROBABILITY / len(STATES)), abs=1e-3)


def test_cells_are_brought_into_the_order_of_the_layout() -> None:
    """A kit may list its cells in another order than the game."""
    evidence = evidence_of(LAYOUT, reading(1, 2, 3, cells=("c1", "a1", "b1")))
    assert [evidence.sight(int(column)) for column in evidence.best()] == [(2, "R"), (1, "G"), (1, "R")]


def test_cells_that_the_reading_lacks_say_nothing() -> None:
    """Cells missing from the reading are hidden and have no evidence."""
    evidence = evidence_of(LAYOUT, reading(1, 2, cells=("a1", "c1")))
    assert evidence.hidden.tolist() == [False, True, False]
    assert not evidence.log_p[1].any()


def test_cells_behind_a_hand_say_nothing() -> None:
    """Cells are hidden above ``HIDDEN_SHARE`` of outliers, and not below it."""
    covered = evidence_of(LAYOUT, reading(1, 1, 1, outlier_share=OCCLUSION_THRESHOLD + 0.01))
    assert covered.hidden.all()
    assert not covered.log_p.any()
    assert not evidence_of(LAYOUT, reading(1, 1, 1, outlier_share=OCCLUSION_THRESHOLD - 0.01)).hidden.any()


def test_a_well_covered_cell_is_a_hand() -> None:
    """A hand is reported from ``HAND_SHARE`` of outliers on."""
    assert shows_hand(reading(1, 1, 1, outlier_share=HAND_THRESHOLD))
    assert not shows_hand(reading(1, 1, 1, outlier_share=HAND_THRESHOLD - 0.01))


@pytest.mark.parametrize(
    ("sight", "column"),
    [((0, None), 0), ((2, "R"), 2), ((9, "R"), 2), ((2, "G"), 3), ((1, "Y"), -1), ((None, "R"), -1)],
)
def test_sights_that_the_camera_does_not_know(sight: tuple, column: int) -> None:
    """Stacks taller than the tallest known one look like that one; pieces unknown to the camera match nothing."""
    assert evidence_of(LAYOUT, reading(1, 1, 1)).columns.of(sight) == column


def test_frames_of_one_calm_are_averaged_and_not_summed() -> None:
    """Three identical frames give no more evidence than one."""
    one = evidence_of(LAYOUT, reading(1, 2, 3, sure=0.9))
    assert combine([one, one, one]).log_p == pytest.approx(one.log_p)
    assert combine([one, one, one]).readings == 3


def test_a_cell_hidden_in_one_frame_is_judged_by_the_others() -> None:
    """The frame in which the cell was hidden has no weight."""
    hidden = evidence_of(LAYOUT, reading(1, 1, 1, outlier_share=0.4))
    clear = evidence_of(LAYOUT, reading(2, 2, 2))
    together = combine([hidden, clear])
    assert together.log_p == pytest.approx(clear.log_p)
    assert not together.hidden.any()


def test_cells_that_contradict_an_expectation() -> None:
    """A cell is returned if its log-likelihood ratio against the expectation exceeds the limit."""
    evidence = evidence_of(LAYOUT, reading(1, 2, 3, sure=0.9))
    ratio = float(np.log(0.9 / (0.1 / 3)))
    expected = np.array([1, 2, 0])
    assert cells_against(evidence, expected, ratio - 0.1) == {2}
    assert cells_against(evidence, expected, ratio + 0.1) == frozenset()


def changed(share):
    """Return a reading in which this share of each cell's picture has changed."""
    return replace(reading(1, 2, 3, sure=0.6), changed=np.full(3, share, np.float32))


def before(of):
    """Return the sights before: the first state of ``of`` on the first cell, unknown elsewhere."""
    return (of.states[1], None, None)


def test_a_cell_whose_picture_is_the_same_holds_what_it_held():
    """An unchanged picture adds SAME_NATS to the earlier state and leaves the others unchanged."""
    plain = evidence_of(LAYOUT, changed(0.0))
    recalled = evidence_of(LAYOUT, changed(0.0), before(changed(0.0)))
    assert recalled.log_p[0, 1] == pytest.approx(plain.log_p[0, 1] + SAME_NATS[0])
    np.testing.assert_array_equal(np.delete(recalled.log_p[0], 1), np.delete(plain.log_p[0], 1))


def test_a_cell_that_was_in_doubt_says_nothing_new_as_long_as_its_picture_is_the_same():
    """A cell of unknown earlier state is hidden while its picture is unchanged."""
    plain, recalled = evidence_of(LAYOUT, changed(0.0)), evidence_of(LAYOUT, changed(0.0), before(changed(0.0)))
    assert recalled.hidden.tolist() == [False, True, True]
    assert not recalled.covered.any()
    assert not recalled.log_p[1:].any()
    other = evidence_of(LAYOUT, changed(0.5), before(changed(0.5)))
    assert not other.hidden.any()
    np.testing.assert_array_equal(other.log_p[1:], plain.log_p[1:])


def test_cells_are_touched_when_much_of_their_picture_has_changed():
    """Cells count as touched if half of their picture has changed, but not a quarter."""
    assert touched_cells(LAYOUT, changed(0.5)) == {0, 1, 2}
    assert touched_cells(LAYOUT, changed(0.25)) == frozenset()
    assert touched_cells(LAYOUT, reading(1, 2, 3)) == frozenset()


@pytest.mark.parametrize(
    ("share", "nats"), [(0.1, SAME_NATS[1]), (0.25, SAME_NATS[2]), (0.4, SAME_NATS[3]), (0.8, SAME_NATS[4])]
)
def test_the_more_a_cells_picture_has_changed_the_less_likely_it_holds_what_it_held(share, nats):
    """The bonus for the earlier state falls with the changed share of the picture."""
    plain = evidence_of(LAYOUT, changed(share))
    recalled = evidence_of(LAYOUT, changed(share), before(changed(share)))
    assert recalled.log_p[0, 1] == pytest.approx(plain.log_p[0, 1] + nats)
    np.testing.assert_array_equal(np.delete(recalled.log_p, 1, axis=1), np.delete(plain.log_p, 1, axis=1))


@pytest.mark.parametrize(
    ("shares", "nats"),
    [((0.15, 0.01, 0.0), -ALONE_NATS), ((0.15, 0.1, 0.0), SAME_NATS[1]), ((0.15, np.nan, 0.0), SAME_NATS[1])],
)
def test_an_empty_cell_whose_picture_alone_has_changed_is_hardly_empty_any_more(shares, nats):
    """If a neighbour changed too, or may have, it may be a shadow; a stack that stood there may have been nudged."""
    seen = replace(reading(0, 1, 2, sure=0.6), changed=np.array(shares, np.float32))
    empty, stood = (evidence_of(LAYOUT, seen, (sight, None, None)).log_p[0] for sight in (STATES[0], STATES[1]))
    plain = evidence_of(LAYOUT, seen).log_p[0]
    assert empty[0] == pytest.approx(plain[0] + nats)
    assert stood[1] == pytest.approx(plain[1] + SAME_NATS[1])


@pytest.mark.parametrize(
    ("states", "shares", "unseen", "nats"),
    [
        ((1, 0, 0), (0.0, 0.0, 0.0), 1, SAME_NATS[0]),
        ((1, 0, 0), (0.0, 0.01, 0.15), 1, -UNSEEN_NATS),
        ((1, 0, 0), (np.nan, 0.01, 0.15), 1, -UNSEEN_NATS),
        ((1, 0, 0), (np.nan, 0.01, 0.05), 1, 0.0),
        ((1, 0, 0), (0.0, 0.01, 0.15), 0, SAME_NATS[0]),
        ((1, 0, 0), (0.0, 0.1, 0.15), 1, SAME_NATS[0]),
        ((1, 2, 0), (0.0, 0.06, 0.2), 1, SAME_NATS[0]),
        ((1, 0, 1), (0.0, 0.0, 0.15), 1, SAME_NATS[0]),
    ],
)
def test_what_is_out_of_sight_may_have_gone_where_only_a_shadow_near_it_has_changed(states, shares, unseen, nats):
    """A shadow that comes or goes is evidence against what stood there, unless something in sight explains it."""
    stood = (STATES[states[0]], STATES[states[1]], STATES[0])
    seen = replace(
        reading(*states, sure=0.6),
        changed=np.array(shares, np.float32),
        unseen=np.array([cell < unseen for cell in range(3)]),
    )
    log_p, plain = evidence_of(LAYOUT, seen, stood).log_p[0], evidence_of(LAYOUT, seen).log_p[0]
    assert log_p[1] == pytest.approx(plain[1] + nats)
    np.testing.assert_array_equal(np.delete(log_p, 1), np.delete(plain, 1))


def test_no_change_where_hardly_anything_is_in_sight_does_not_tell_apart_what_looks_the_same():
    """The bonus goes to all states that look like the earlier one, and not to those that would be seen."""
    seen = replace(reading(1, 2, 3), changed=np.zeros(3, np.float32), unseen=np.array([True, False, False]))
    log_p = np.log(np.array([0.49, 0.5, 0.009, 0.001]))
    seen = replace(seen, log_likelihood=np.vstack([log_p, seen.log_likelihood[1:]]).astype(np.float32))
    recalled, plain = evidence_of(LAYOUT, seen, (STATES[1], None, None)).log_p[0], evidence_of(LAYOUT, seen).log_p[0]
    assert (recalled - plain).tolist() == pytest.approx([SAME_NATS[0], SAME_NATS[0], 0.0, 0.0, 0.0])


@pytest.mark.parametrize(("share", "nats"), [(0.0, 0.0), (0.4, -ALONE_NATS)])
def test_what_an_accusation_claims_is_not_proved_by_a_picture_that_is_the_same_but_refuted_by_another(share, nats):
    """A claimed state gets no bonus from an unchanged picture, and a penalty from a changed one."""
    seen = replace(reading(0, 1, 2, sure=0.6), changed=np.array([share, 0, 0], np.float32))
    told = evidence_of(LAYOUT, seen, (UNKNOWN, None, None), claimed=((0, STATES[0]),)).log_p[0]
    assert told[0] == pytest.approx(evidence_of(LAYOUT, seen).log_p[0, 0] + nats)


def test_where_it_is_not_known_what_has_changed_nothing_is_recalled():
    """If the changed share is unknown, nothing is recalled."""
    unknown = changed(np.nan)
    np.testing.assert_array_equal(
        evidence_of(LAYOUT, unknown, before(unknown)).log_p, evidence_of(LAYOUT, unknown).log_p
    )
    assert touched_cells(LAYOUT, unknown) == frozenset()
    assert changed_cells(LAYOUT, unknown) == {0, 1, 2}


def test_without_a_picture_to_compare_with_nothing_is_recalled():
    """Without changed shares nothing is recalled."""
    plain = reading(1, 2, 3, sure=0.6)
    np.testing.assert_array_equal(evidence_of(LAYOUT, plain, before(plain)).log_p, evidence_of(LAYOUT, plain).log_p)


def test_what_stands_on_a_pillar_beyond_the_cameras_levels_is_not_seen():
    """A cube on a pillar above the camera's levels counts as hidden."""
    seen = replace(reading(0, 1, 0), level_log_likelihood=np.zeros((3, 2), np.float32))
    evidence = evidence_of(LAYOUT, seen, pillars=np.array([[0.0, -9, -9], [-9, -9, 0], [-9, 0, -9]]))
    assert list(evidence.hidden[:3]) == [False, True, False]
