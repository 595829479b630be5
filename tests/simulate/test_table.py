"""The simulated table as a frame source."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from calibration.kit import load_kit
from companion.events import Accepted, Illegal, Start
from companion.games import load_game
from companion.match import Match
from companion.simulate.placement import make_rng
from companion.simulate.players import ILLEGAL, RESTORE, Habits, play
from companion.simulate.table import FAST, SimulatedTable, clock, empty_picture, enrol_picture
from vision.capture.frames import Frame
from vision.pose.projection import project
from vision.scene.solids import pieces

pytestmark = pytest.mark.pictures

KIT = load_kit("domination")


def table(seed: int = 7, habits: Habits | None = None) -> SimulatedTable:
    """Return a match of Domination from its start."""
    game = load_game("domination")
    return SimulatedTable(KIT, Match(game, game.start()), seed, pace=FAST, habits=habits)


def run(source: SimulatedTable, until_s: float) -> Iterator[Frame]:
    """Yield the frames up to a time."""
    return islice(source.frames(), int(until_s * FAST.fps) + 1)


def test_frames_come_at_the_tables_pace() -> None:
    """Frames are 1280 × 720 BGR, numbered from 0, and 1/fps apart."""
    frames = list(run(table(), 1.0))
    assert [frame.seq for frame in frames] == list(range(len(frames)))
    assert [frame.t_s for frame in frames] == [seq / FAST.fps for seq in range(len(frames))]
    assert {(frame.image.shape, frame.image.dtype) for frame in frames} == {((720, 1280, 3), np.dtype(np.uint8))}


@pytest.mark.slow
def test_same_seed_same_frames() -> None:
    """Frames are identical byte for byte; another seed gives others."""
    pairs = list(zip(run(table(3), 4.0), run(table(3), 4.0), strict=True))
    assert all((a.image == b.image).all() for a, b in pairs)
    assert (next(table(4).frames()).image != pairs[0][0].image).any()


@pytest.mark.slow
def test_truth_times_follow_each_other() -> None:
    """Hands and calm phases alternate without gaps, and the frames show motion exactly then."""
    source = table()
    frames = list(run(source, 20.0))
    assert len(source.truth) >= 4
    assert source.truth[0].t_hand_from == FAST.opening_s
    for row, after in zip(source.truth, source.truth[1:], strict=False):
        assert row.t_hand_from < row.t_hand_to == row.t_calm_from < row.t_calm_to == after.t_hand_from
        calm = [f.image.astype(int) for f in frames if row.t_calm_from <= f.t_s < after.t_hand_from]
        moving = [f.image.astype(int) for f in frames if row.t_hand_from <= f.t_s < row.t_hand_to]
        assert np.abs(calm[0] - calm[-1]).mean() < 2.5
        assert max(np.abs(image - calm[0]).mean() for image in moving) > 2.5


@pytest.mark.slow
def test_players_wait_for_the_referee_but_not_for_ever() -> None:
    """After a verdict the next hand comes soon; without one it comes only after the players' patience.

    The start event does not hurry the first hand.
    """
    silent, heard = table(), table()
    list(run(silent, 12.0))
    heard.hear(Start(t=0.0, n=1, position=""))
    for frame in run(heard, 12.0):
        if heard.truth and heard.truth[-1].t_calm_to is None and frame.t_s >= heard.truth[-1].t_calm_from:
            heard.hear(Accepted(t=frame.t_s, n=1, player="R", move="", position=""))
    assert heard.truth[0].t_hand_from == silent.truth[0].t_hand_from
    one = FAST.calm_s + 2 / FAST.fps
    assert all(row.t_calm_to - row.t_calm_from <= one for row in heard.truth[:-1] if row.t_calm_to is not None)
    assert silent.truth[0].t_calm_to is not None
    assert silent.truth[0].t_calm_to - silent.truth[0].t_calm_from >= FAST.patience_s
    same = min(len(silent.truth), len(heard.truth))
    assert [row.text for row in silent.truth[:same]] == [row.text for row in heard.truth[:same]]


@pytest.mark.slow
def test_what_is_done_is_known_before_the_hand_has_gone_and_so_may_be_the_word_on_it() -> None:
    source = table()
    early = 0
    for frame in run(source, 12.0):
        if source.truth and source.truth[-1].judged_from_s <= frame.t_s < source.truth[-1].t_calm_from:
            source.hear(Accepted(t=frame.t_s, n=1, player="R", move="", position=""))
            early += 1
    assert early > 0
    rows = source.truth[:-1]
    assert all(row.t_hand_from < row.judged_from_s <= row.t_calm_from for row in rows)
    assert all(row.t_calm_to - row.t_calm_from <= FAST.calm_s + 2 / FAST.fps for row in rows if row.t_calm_to)


@pytest.mark.slow
def test_players_restore_when_told_and_by_themselves() -> None:
    """Every illegal act is followed by its restoration, with or without a verdict."""
    word = Illegal(t=0.0, n=1, player="R", attempt=None, rules=(), reason="", cells=(), seen="", expected="")
    for tell, until_s in ((True, 8.0), (False, 13.0)):
        source = table(habits=Habits(illegal=1.0, takeback=0.0))
        for _ in run(source, until_s):
            if tell:
                source.hear(word)
        kinds = [row.kind for row in source.truth]
        assert len(kinds) >= 2
        assert kinds == [ILLEGAL if i % 2 == 0 else RESTORE for i in range(len(kinds))]


def test_closing_ends_the_frames() -> None:
    """Closing twice is allowed."""
    source = table()
    frames = source.frames()
    next(frames)
    source.close()
    source.close()
    assert next(frames, None) is None


def test_a_finished_match_ends_the_frames() -> None:
    """One move remains: R takes G's last stack, and nobody else can move (DOM-8)."""
    game = load_game("domination")
    board = tuple("R" if name == "d4" else "G" if name == "d5" else "" for name in game.layout.cells)
    match = Match(game, game.parse_position(board, "R", {}))
    winning = next(m for m in game.legal_moves(match.position) if game.layout.cells[m.target or 0] == "d5")
    assert match.play(winning).outcome is not None
    honest = Habits(illegal=0.0, takeback=0.0)
    seed = next(s for s in range(99) if next(play(match, make_rng("players", s), honest)).text == "d4-d5")
    source = SimulatedTable(KIT, match, seed, pace=FAST, habits=honest)
    frames = list(islice(source.frames(), 200))
    assert [row.text for row in source.truth] == ["d4-d5"]
    assert len(frames) < 80


def test_the_clock_waits_for_each_frame() -> None:
    """Time counts from the first call; late frames do not wait."""
    wait = clock()
    wait(5.0)
    with pytest.MonkeyPatch.context() as patch:
        slept: list[float] = []
        patch.setattr("companion.simulate.table.time.sleep", slept.append)
        wait(5.5)
        wait(1.0)
    assert slept[0] == pytest.approx(0.5, abs=0.1)
    assert slept[1] == 0.0


@pytest.mark.slow
def test_enrolment_shows_the_kits_pieces_where_it_says() -> None:
    """The centre of each enrolled piece has the strongest channel of its colour.

    The picture of the empty board differs only in a small share of pixels.
    """
    empty, enrol = empty_picture(KIT).astype(int), enrol_picture(KIT).astype(int)
    scene = table().scene
    for cell, letter in KIT.enrol.items():
        top = pieces(KIT, cell, letter)[0]
        column, row = project(top.points[list(top.top)], scene.pose, scene.camera).mean(axis=0).astype(int)
        red, green, blue = KIT.piece(letter).colour
        look = enrol[row - 2 : row + 3, column - 2 : column + 3].mean(axis=(0, 1))
        assert np.argmax(look) == np.argmax((blue, green, red))
    differs = np.abs(enrol - empty).max(axis=2) > 20
    assert 0.001 < differs.mean() < 0.05
