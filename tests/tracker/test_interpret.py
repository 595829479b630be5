"""Interpretation of calm tables.  The pictures are clear unless a test says otherwise."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from companion.referee.patience import LIKELY_WRONG
from companion.rules.game import Move, view
from companion.tracker.evidence import Evidence, evidence_of
from companion.tracker.hands import Hands
from companion.tracker.hypotheses import MoveSequence, predict
from companion.tracker.interpret import (
    ASK_THRESHOLD,
    Ambiguous,
    Illegal,
    InProgress,
    Played,
    TakenBack,
    Unchanged,
    Undecided,
    interpret,
)
from companion.tracker.scoring import Context
from companion.tracker.verification import ComparedView, SecondLook, question

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"
TALL = "domination 4/6/8/8/GR,GR,3,G,GGGGR,R/1,R,R,G,G,RRG,R,1/G,G,R,R,G,G/4 G"
"""Green moves f4-g4, after which one piece must be removed from g4."""

OWN_FIVES = "domination 4/6/8/1,RRRRR,R,RRGRR,R,G,2/8/8/6/4 R reserve=R2"
"""Red controls two stacks of five, b5 and d5, and the single piece c5 between them."""

PILLARS = "diamond:table R,1,X,1,B/5/X,3,X/5/Y,1,X,1,G R levels=5,5,3,1,1/5,3,3,3,1/3,3,3,3,3/1,3,3,3,5/1,1,3,5,5"


def test_nothing_has_changed(scene) -> None:
    """The accepted table is interpreted as unchanged, without any odd cells."""
    judged = scene(START).judge(scene(START).board())
    assert judged.interpretation == Unchanged()
    assert judged.changes == ()
    assert judged.odd == ()


@pytest.mark.parametrize("position", [START, TALL, OWN_FIVES])
def test_every_legal_move_is_known_by_its_view(scene, position: str) -> None:
    """A move is played if no other looks like it, and asked about otherwise.

    A move that changes nothing visible is not reported.
    """
    at = scene(position)
    game, here = at.match.game, at.match.position
    before = view(game, game.table(here))
    views = {move: view(game, game.table(game.play(here, move))) for move in game.legal_moves(here)}
    often = Counter(views.values())
    for move, seen in views.items():
        meaning = at.judge(game.table(game.play(here, move)).stacks).interpretation
        if seen == before:
            assert meaning == Unchanged()
        elif often[seen] == 1:
            assert meaning == Played((move,))
        else:
            assert isinstance(meaning, Ambiguous)
            assert {option[0] for option in meaning.options} == {m for m, v in views.items() if v == seen}


def test_the_positions_of_that_test_have_moves_that_look_alike(scene) -> None:
    """The position OWN_FIVES covers the ambiguous case of the test above."""
    at = scene(OWN_FIVES)
    assert isinstance(at.judge(at.after("c5-d5")).interpretation, Ambiguous)


def test_a_stack_that_is_still_too_high(scene) -> None:
    """The turn is in progress, and its remaining stage is named."""
    at = scene(TALL)
    (stage,) = at.match.game.stages(at.match.position, at.move("f4-g4"))
    meaning = at.judge(stage.table.stacks).interpretation
    assert meaning == InProgress((at.move("f4-g4"),), stage)


def test_a_turn_seen_half_done_tells_moves_apart_that_end_alike(scene) -> None:
    """Two moves with equal final tables are told apart if one was seen in progress before."""
    at = scene(OWN_FIVES)
    begun = Context(begun=(at.move("c5-d5"),))
    assert at.judge(at.after("c5-d5"), begun).interpretation == Played((at.move("c5-d5"),))


def test_a_turn_seen_half_done_has_ended_even_if_nothing_looks_different(scene) -> None:
    """A move that leaves the board unchanged counts as played only if it was seen in progress.

    Putting a reserve piece onto one's own stack of five has that effect.
    """
    at = scene(OWN_FIVES)
    assert at.judge(at.after("*b5")).interpretation == Unchanged()
    assert at.judge(at.after("*b5"), Context(begun=(at.move("*b5"),))).interpretation == Played((at.move("*b5"),))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_moves_taken_back(scene, n: int) -> None:
    """The position before one, two or three moves is recognised as that many moves taken back."""
    at = scene(START, "e4-e5", "f6-f5", "c5-c4")
    earlier = at.match.take_back(n)
    assert at.judge(at.match.game.table(earlier.position).stacks).interpretation == TakenBack(n)


def test_a_legal_move_that_leads_back_is_a_move(scene) -> None:
    """Green's move restores the start, which is also the position three moves ago."""
    at = scene(START, "e4-e5", "g6-g5", "e5-e4:1")
    assert at.judge(at.after("g5-g6:1")).interpretation == Played((at.move("g5-g6:1"),))


def test_a_move_taken_back_and_another_one_played(scene) -> None:
    """Both are recognised on one calm table."""
    at = scene(START, "e4-e5")
    earlier = scene(START)
    assert at.judge(earlier.after("c5-b5")).interpretation == TakenBack(1, (earlier.move("c5-b5"),))


def test_a_piece_from_a_hidden_square_is_no_piece_too_many(scene) -> None:
    """Of one hidden cell the missing piece is inferred: it was put on the tower that hides its origin.

    If several cells are hidden, the origin stays open.
    """
    at = scene("citadel 2,B,B,B,B,2/2,B,B,B,B,2/8/8/8/8/2,R,R,R,R,2/2,RR,1,R,R,2 B")
    board, cell = at.board(c7="", d7="BB"), at.match.game.layout.index
    one, several = (at.judge(board, covered=["c7", other]).interpretation for other in ("b7", "c8"))
    assert isinstance(one, Illegal)
    assert isinstance(several, Illegal)
    assert one.diagnosis.move == Move(cell["c7"], cell["d7"], 1)
    assert several.diagnosis.move is None


def test_two_quick_plies(scene) -> None:
    """Both moves of two players are recognised on one calm table."""
    at = scene(START)
    after = scene(START, "e4-e5")
    meaning = at.judge(after.after("f6-f5")).interpretation
    assert meaning == Played((at.move("e4-e5"), after.move("f6-f5")))


def test_three_plies_are_believed_only_when_tables_before_were_unclear(scene) -> None:
    """With a doubtful table before, three plies are accepted, in the order which that table suggests."""
    at, after = scene(START), scene(START, "e4-e5", "f6-f5")
    board = after.after("c3-b3")
    moves = (at.move("e4-e5"), scene(START, "e4-e5").move("f6-f5"), after.move("c3-b3"))
    other_order = (moves[2], moves[1], moves[0])
    assert isinstance(at.judge(board).interpretation, Illegal)
    for order in (moves, other_order):
        context = Context(unclear=1, doubted=(MoveSequence(order[:1]),))
        assert at.judge(board, context).interpretation == Played(order)


@pytest.mark.parametrize("doubted", [False, True])
def test_a_move_in_doubt_was_played_when_an_illegal_act_comes_after_it(scene, *, doubted: bool) -> None:
    """A doubted move is accepted before the illegal act is reported.

    A move that nobody saw is part of what is wrong.
    """
    at, after = scene(START), scene(START, "e4-e5")
    board = after.board(b7="", c6="GR")
    context = Context(unclear=1, doubted=(MoveSequence((at.move("e4-e5"),)),) if doubted else ())
    meaning = at.judge(board, context).interpretation
    assert meaning == Played((at.move("e4-e5"),)) if doubted else isinstance(meaning, Illegal)
    assert isinstance(after.judge(board).interpretation, Illegal)


def test_a_take_back_in_doubt_has_happened_when_an_illegal_act_comes_after_it(scene) -> None:
    """The illegal act is by the player who is to move only after the take-back."""
    at, before = scene(START, "e4-e5"), scene(START)
    context = Context(unclear=1, doubted=(MoveSequence((), undone=1),))
    assert at.judge(before.board(b7="", c6="GR"), context).interpretation == TakenBack(1)


def test_a_turn_left_half_done_and_another_ones_move_are_no_two_moves(scene) -> None:
    """A surplus disc is left on d5, and a stack of five has moved from a4 to a3; this is illegal by DOM-7.

    Without the surplus disc, the table is explained by two moves.
    """
    at = scene("domination 4/1,R,GG,G,1,RRR/3,RR,1,G,2/1,R,RGG,GGRR,1,R,2/GGRGR,3,R,G,2/1,R,R,G,G,3/G,G,R,R,G,G/4 G")
    meaning = at.judge(at.board(d7="", d5="GGRRGG", a4="", a3="GGRGR")).interpretation
    assert isinstance(meaning, Illegal)
    assert "DOM-7" in {violation.rule for violation in meaning.diagnosis.violations}
    complete = at.judge(at.board(d7="", d5="GRRGG", a4="", a3="GGRGR")).interpretation
    assert isinstance(complete, Played)
    assert len(complete.moves) == 2


@pytest.mark.parametrize("beside", [{}, {"g5": "", "g6": "", "e2": "RG"}])
@pytest.mark.parametrize("visit", [{"left": 9}, {"left": 9, "right": 9}])
def test_two_plies_in_doubt_at_once_may_be_one_players(scene, visit: dict[str, int], beside: dict[str, str]) -> None:
    """Both players are assumed only if both of their arms were seen, whether or not the third act is legal."""
    at, after = scene(START), scene(START, "e4-e5", "f6-f5")
    moves = (at.move("e4-e5"), scene(START, "e4-e5").move("f6-f5"))
    board = after.board(**beside) if beside else after.after("c3-b3")
    seats = {"R": {"left": 40}, "G": {"right": 40}}
    context = Context(unclear=1, doubted=(MoveSequence(moves),), hands=Hands(visit=visit, seats=seats))
    meaning = at.judge(board, context).interpretation
    if "right" in visit:
        assert isinstance(meaning, Played)
        assert meaning.moves[:2] == moves
    else:
        assert isinstance(meaning, Illegal)


@pytest.mark.parametrize("doubted", [False, True])
def test_the_order_of_two_plies_is_asked_unless_a_table_in_doubt_has_told_it(scene, *, doubted: bool) -> None:
    """In Diamond it matters who moved which pillar: it may not be moved back before that player's next turn."""
    at, later = scene(PILLARS), scene(PILLARS, "-e4")
    first = (at.move("-e4"), later.move("+c1"))
    other = (at.move("+c1"), scene(PILLARS, "+c1").move("-e4"))
    game = at.match.game
    table = game.table(game.play(later.match.position, first[1]))
    pillars = np.full((25, 7), -15.0)
    pillars[np.arange(25), np.array(table.levels)] = 0.0
    evidence = evidence_of(game.layout, at.reading(table.stacks), None, pillars)
    context = Context(unclear=1, doubted=(MoveSequence(first[:1]),) if doubted else ())
    meaning = interpret(evidence, predict(at.match), context).interpretation
    if doubted:
        assert meaning == Played(first)
    else:
        assert isinstance(meaning, Ambiguous)
        assert set(meaning.options) == {first, other}
        assert len(meaning.options) == 2


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({"d7": "", "b6": "GG"}, {"G-1", "DOM-1", "DOM-4", "DOM-5"}),  # another's piece, not straight
        ({"b7": "", "c6": "GR"}, {"DOM-4", "DOM-5"}),  # diagonal
        ({"b7": "", "d7": "GR"}, {"DOM-5"}),  # too far
        ({"d7": "", "d6": "RG"}, {"G-1", "DOM-1"}),  # out of turn
        ({"h3": "R"}, {"DOM-6"}),  # no reserve
        ({"b7": ""}, {"G-2", "DOM-7"}),  # a piece gone
    ],
)
def test_single_illegal_acts_and_their_rules(scene, changes: dict[str, str], rules: set[str]) -> None:
    """The act is found, with all the rules it breaks and its cells."""
    at = scene(START)
    meaning = at.judge(at.board(**changes)).interpretation
    assert isinstance(meaning, Illegal)
    assert set(meaning.diagnosis.rules) == rules
    assert meaning.diagnosis.move is not None
    assert set(changes) <= set(meaning.diagnosis.cells)
    assert meaning.is_lifted == (changes == {"b7": ""})


@pytest.mark.parametrize(
    "changes",
    [
        {"b7": "", "b6": "GR", "g7": "", "g6": "GR"},  # two moves of one player
        {"b7": "", "b6": "GR", "h3": "G"},  # a move and a piece too many
        {"b7": "", "b6": "GR", "c3": ""},  # a move and a piece gone
        {"c7": "G", "d7": "R"},  # swapped
        {"c7": "G"},  # exchanged for another
    ],
)
def test_tables_that_no_single_act_explains(scene, changes: dict[str, str]) -> None:
    """No single move is named, but all changed cells are."""
    at = scene(START)
    judged = at.judge(at.board(**changes))
    assert isinstance(judged.interpretation, Illegal)
    assert judged.interpretation.diagnosis.move is None
    assert "G-2" in judged.interpretation.diagnosis.rules
    assert set(judged.interpretation.diagnosis.cells) == set(changes)


def test_a_piece_taken_off_is_told_in_one_sentence(scene) -> None:
    """Two rules broken by the same act are explained in one sentence."""
    meaning = scene(START).judge(scene(START).board(c3="")).interpretation
    assert isinstance(meaning, Illegal)
    assert meaning.diagnosis.rules == ("G-2", "DOM-7")
    assert meaning.diagnosis.reason == (
        "a piece was taken off c3, but pieces leave the board only from the bottom of a stack that a move has made "
        "higher than five."
    )


def test_after_the_end_no_move_is_legal(scene) -> None:
    """The rule that the match is over (G-5) comes first."""
    at = scene("domination 4/6/8/8/G,R,6/8/6/4 R", "b4-a4")
    meaning = at.judge(at.board(a4="", a5="GR")).interpretation
    assert isinstance(meaning, Illegal)
    assert meaning.diagnosis.rules[0] == "G-5"


def test_what_a_hand_hides_is_left_open(scene) -> None:
    """A move completely under a hand leaves the table unchanged; a half-visible one is undecided."""
    at = scene(START)
    assert isinstance(at.judge(at.after("e4-e5"), covered=("e4", "e5")).interpretation, Unchanged)
    meaning = at.judge(at.after("e4-e5"), covered=("e5", "d4", "f4", "e3")).interpretation
    assert isinstance(meaning, Undecided)


@pytest.mark.parametrize(("nats", "is_disputed"), [(0.8, True), (-0.8, False)])
def test_a_move_that_a_second_look_finds_a_little_less_likely_is_disputed(scene, nats: float, *, is_disputed) -> None:
    """It stays the likeliest explanation, because most acts are legal."""
    at = scene(START)
    evidence = evidence_of(at.match.game.layout, at.reading(at.after("e4-e5")))
    index = at.match.game.layout.index
    moved, lifted = ((index["e4"], (0, None)), (index["e5"], (2, "R"))), ((index["e4"], (0, None)),)
    look = SecondLook((ComparedView(moved, -nats, b""), ComparedView(lifted, 0.0, b"")), b"")
    judged = interpret(evidence, predict(at.match), Context(), look)
    assert judged.interpretation == Played((at.move("e4-e5"),))
    assert judged.is_disputed == is_disputed


def test_a_table_that_looks_like_nothing_is_strange(scene) -> None:
    """Seven additional pieces on a cell are rather a sleeve; one is not strange."""
    at = scene(START)
    judged = at.judge(at.board(c4="RRRRRRRG"))
    assert judged.is_strange
    assert (at.match.game.layout.index["c4"], (8, "G")) in judged.odd
    assert not at.judge(at.board(c4="GG")).is_strange


@pytest.mark.parametrize(("nats", "is_strange"), [(20.0, False), (5.0, True)])
def test_what_a_second_look_denies_is_not_strange(scene, nats: float, is_strange: bool) -> None:
    """A tower where a box lies behind the board: on the reading alone it would be strange."""
    at = scene(START)
    evidence = evidence_of(at.match.game.layout, at.reading(at.board(c4="RRRRRRRG")))
    tower = ((at.match.game.layout.index["c4"], (8, "G")),)
    look = SecondLook((ComparedView((), nats, b""), ComparedView(tower, 0.0, b"")), b"")
    assert interpret(evidence, predict(at.match), Context(), look).is_strange is is_strange


@pytest.mark.rule("DOM-7")
def test_a_high_stack_that_a_move_leaves_half_done_is_not_strange(scene) -> None:
    """Three of eight pieces on d4 still have to come off, but Green has moved already: this is reported at once."""
    at = scene("domination 4/6/8/3,RRRR,3,G/3,GGGG,4/8/6/4 R")
    judged = at.judge(at.board(d5="", d4="GGGGRRRR", h5="", g5="G"))
    assert not judged.is_strange
    assert isinstance(judged.interpretation, Illegal)
    assert judged.interpretation.diagnosis.rules == ("DOM-7", "G-2")
    assert at.judge(at.board(d5="", d3="GGGGRRRR", h5="", g5="G")).is_strange


def test_explanations_are_ranked_with_their_probabilities(scene) -> None:
    """Explanations are sorted by posterior probability, and their sum does not exceed 1."""
    at = scene(START)
    judged = at.judge(at.after("e4-e5"))
    assert judged.ranked[0].what.startswith("e4-e5")
    assert judged.ranked[0].posterior == judged.posterior
    posteriors = [ranked.posterior for ranked in judged.ranked]
    assert posteriors == sorted(posteriors, reverse=True)
    assert sum(posteriors) <= 1 + 1e-9


@pytest.mark.parametrize("nats", [2.0, 4.0, 6.0])
def test_doubt_is_no_accusation(scene, nats: float) -> None:
    """A cell that contradicts a legal move with little certainty does not lead to an illegal act at once."""
    at = scene(START)
    game = at.match.game
    reading = at.reading(at.after("e4-e5"))
    cell, there = game.layout.index["h3"], reading.index[1, "R"]
    log_p = reading.log_likelihood.copy()
    log_p[cell] = -50.0
    log_p[cell, there], log_p[cell, 0] = 0.0, -nats
    doubtful = replace(reading, log_likelihood=log_p)
    judged = interpret(evidence_of(game.layout, doubtful), predict(at.match), Context())
    assert not isinstance(judged.interpretation, Illegal)


def test_a_question_offers_the_move_that_a_misread_height_makes_less_likely(scene) -> None:
    """Asked whether the whole stack moved, a player can answer that only a part did."""
    at = scene(OWN_FIVES)
    reading = at.reading(at.board(d5="", d6="RRGRR"))
    log_p = reading.log_likelihood.copy()
    from_cell, to_cell = (at.match.game.layout.index[cell] for cell in ("d5", "d6"))
    log_p[from_cell, reading.index[1, "R"]], log_p[to_cell, reading.index[4, "R"]] = -1.5, -1.5
    evidence = evidence_of(at.match.game.layout, replace(reading, log_likelihood=log_p))
    judged = interpret(evidence, predict(at.match), Context())
    assert judged.ranked[1].posterior < ASK_THRESHOLD
    assert isinstance(judged.interpretation, Undecided)
    assert judged.interpretation.options == ((at.move("d5-d6"),), (at.move("d5-d6:4"),))


@pytest.mark.parametrize(
    ("nats", "is_taken", "is_violation_possible"), [(5.0, False, False), (8.0, False, True), (10.0, True, True)]
)
def test_what_one_square_in_doubt_comes_to(scene, nats: float, *, is_taken: bool, is_violation_possible: bool) -> None:
    """The more certain the misread cell, the more it leads to: nothing, a question, an accusation."""
    at = scene(START)
    game = at.match.game
    reading = at.reading(at.board())
    cell = game.layout.index["c3"]
    log_p = reading.log_likelihood.copy()
    log_p[cell] = -60.0
    log_p[cell, reading.index[2, "R"]], log_p[cell, reading.index[1, "R"]] = 0.0, -nats
    evidence = replace(evidence_of(game.layout, replace(reading, log_likelihood=log_p)), readings=4)
    meaning = interpret(evidence, predict(at.match), Context()).interpretation
    assert isinstance(meaning, Undecided)
    assert meaning.options == ()
    assert (isinstance(meaning.fallback, Illegal) and meaning.fallback_posterior >= LIKELY_WRONG) == is_taken
    assert meaning.is_violation_possible == is_violation_possible


def in_doubt(at, cell: str, **nats: float) -> Evidence:
    """Return evidence of the accepted table in which ``cell`` shows the named sights.

    The keyword ``_2G`` is a stack of two with a green top; its value is by how many nats it is less likely than the
    best.
    """
    reading = at.reading(at.board())
    log_p = reading.log_likelihood.copy()
    row = log_p[at.match.game.layout.index[cell]]
    row[:] = -60.0
    for sight, less in nats.items():
        row[reading.index[int(sight[1]), sight[2]]] = -less
    return evidence_of(at.match.game.layout, replace(reading, log_likelihood=log_p))


def test_what_no_act_explains_and_is_hardly_worth_the_price_is_looked_at_twice(scene) -> None:
    """A disc of the other colour, slightly favoured by one reading: nothing is reported, but it is compared again."""
    at = scene(START)
    judged = interpret(in_doubt(at, "c3", _1G=0.0, _1R=3.0), predict(at.match), Context())
    assert isinstance(judged.interpretation, Unchanged)
    assert not judged.is_clear
    assert ((at.match.game.layout.index["c3"], (1, "G")),) in judged.rivals


def test_what_a_second_look_has_found_stays_possible_when_something_like_it_is_read(scene) -> None:
    """One disc of the other colour or two: either may be the best reading."""
    at = scene(START)
    cell = at.match.game.layout.index["c3"]
    one, two = ((cell, (1, "G")),), ((cell, (2, "G")),)
    look = SecondLook((ComparedView(one, 0.0, b""), ComparedView(two, -30.0, b""), ComparedView((), -60.0, b"")), b"")
    judged = interpret(in_doubt(at, "c3", _2G=0.0, _1G=0.2), predict(at.match), Context(), look)
    assert isinstance(judged.interpretation, Illegal)
    assert judged.changes == one


@pytest.mark.parametrize("is_covered", [False, True])
def test_a_square_in_doubt_that_no_hand_covers_is_compared(scene, *, is_covered: bool) -> None:
    """A disc is missing from e4 and e5 gives no new evidence: a second look must decide whether it moved there."""
    at = scene(START)
    game = at.match.game
    e5 = game.layout.index["e5"]
    reading = at.reading(at.board(e4=""), covered=["e5"] if is_covered else [])
    changed = np.zeros(len(game.layout.cells), np.float32)
    changed[game.layout.index["e4"]] = 1.0
    prediction = predict(at.match)
    before = [None if cell == e5 else sight for cell, sight in enumerate(prediction.sights)]
    evidence = evidence_of(game.layout, replace(reading, changed=changed), before)
    judged = interpret(evidence, prediction, Context())
    asked = question(game.layout, prediction, evidence, judged.rivals, 0.0)
    views = () if asked is None else asked.views
    assert any(e5 in dict(view) for view in views) is not is_covered
