"""Replaying records: a correct one is accepted, and every kind of fault is found at its event."""

import random
from dataclasses import replace

import pytest

from companion.events import (
    Accepted,
    ClockChanged,
    Corrected,
    Event,
    GameOver,
    Illegal,
    Repeated,
    Restored,
    Skipped,
    Start,
    TakenBack,
    Unfinished,
    Unsure,
    ViewChanged,
)
from companion.games import load_game, read_position
from companion.match import Match
from companion.replay import MAX_HISTORIES, Fault, first_fault, possible_matches
from companion.rules.notation import format_move, format_position, parse_move

LONE = "domination 4/6/5,G,2/8/8/2,R,5/6/4 R"
"""One disc each, far apart, so that they can move to and fro."""
LONE_MOVED = "domination 4/6/5,G,2/8/2,R,5/8/6/4 G"
LAST = "domination 4/6/8/8/2,G,5/2,R,5/6/4 R"
"""Red covers Green's last disc with c3-c4 and wins."""
WON = "domination 4/6/8/8/2,GR,5/8/6/4 -"


class Script:
    """Writes the events of a match as a referee would."""

    def __init__(self, position: str) -> None:
        self.events: list[Event] = []
        self._match = Match(*read_position(position))
        self.add(Start(t=0, n=0, position=position))

    def add(self, event: Event) -> "Script":
        self.events.append(replace(event, n=len(self.events) + 1))
        return self

    def play(self, *moves: str) -> "Script":
        for text in moves:
            match = self._match
            self._match = match.play(parse_move(match.game, match.position, text))
            position = format_position(match.game, self._match.position)
            self.add(Accepted(t=0, n=0, player=match.position.to_move, move=text, position=position))
        return self

    def take_back(self, *moves: str) -> "Script":
        self._match = self._match.take_back(len(moves))
        position = format_position(self._match.game, self._match.position)
        return self.add(TakenBack(t=0, n=0, moves=moves, position=position))


def illegal(attempt: str | None, *rules: str, player: str = "R") -> Illegal:
    return Illegal(t=0, n=0, player=player, attempt=attempt, rules=rules, reason="", cells=(), seen="", expected="")


def over(winner: str | None, rule: str, position: str) -> GameOver:
    return GameOver(t=0, n=0, winner=winner, rule=rule, position=position)


def corrected(*, position: str | None = None, move: str | None = None) -> Corrected:
    return Corrected(t=0, n=0, by="arbiter", position=position, move=move)


def repeated(times: int, position: str = LONE) -> Repeated:
    return Repeated(t=0, n=0, times=times, position=position)


ROUND = ("c3-c4", "f6-f5", "c4-c3", "f5-f6")

TRUE: dict[str, Script] = {
    "nothing but a start": Script(LONE),
    "moves": Script(LONE).play("c3-c4", "f6-f5"),
    "what changes nothing": Script(LONE)
    .add(ViewChanged(t=0, n=0, state="hand"))
    .add(Unfinished(t=0, n=0, todo="x", cells=()))
    .add(Unsure(t=0, n=0, options=("c3-c4",), question="?"))
    .add(Restored(t=0, n=0))
    .play("c3-c4"),
    "a win": Script(LAST).play("c3-c4").add(over("R", "DOM-8", WON)),
    "an arbiter's end": Script(LONE).add(over(None, "arbiter", LONE)),
    "a draw by repetition": Script(LONE)
    .play(*ROUND)
    .add(repeated(2))
    .play(*ROUND)
    .add(repeated(3))
    .add(over(None, "G-4", LONE)),
    "a move taken back": Script(LONE).play("c3-c4").take_back("c3-c4").play("c3-d3"),
    "two moves taken back": Script(LONE).play("c3-c4", "f6-f5").take_back("c3-c4", "f6-f5").play("c3-d3"),
    "the winning move taken back": Script(LAST).play("c3-c4").add(over("R", "DOM-8", WON)).take_back("c3-c4"),
    "an illegal act": Script(LONE).add(illegal("c3-c5", "DOM-5")).add(Restored(t=0, n=0)),
    "an illegal act of the other": Script(LONE).add(illegal("f6-f5", "G-1", "DOM-1", player="G")),
    "an illegal table": Script(LONE).add(illegal(None, "G-2", "DOM-7")),
    "a ruling that a move was played": Script(LONE).add(corrected(move="c3-c4")).add(repeated(1, LONE_MOVED)),
    "a ruling with its position": Script(LONE).add(corrected(move="c3-c4", position=LONE_MOVED)),
    "a position set by hand": Script(LONE).add(corrected(position=LAST)).add(repeated(1, LAST)),
    "moves taken back by ruling": Script(LONE).play("c3-c4").add(corrected(position=LONE)).add(repeated(1)),
    "the same position set by hand": Script(LONE).play("c3-c4").add(corrected(position=LONE)).add(repeated(2)),
    "a ruling that no move was made": (
        Script(LONE)
        .play("c3-c4")
        .add(corrected(position=LONE_MOVED))
        .add(TakenBack(t=0, n=0, moves=("c3-c4",), position=LONE))
    ),
}


@pytest.mark.parametrize("script", TRUE.values(), ids=TRUE)
def test_a_true_record_holds(script: Script) -> None:
    assert first_fault(script.events) is None


def test_a_record_without_its_start_is_refused() -> None:
    assert first_fault(Script(LONE).play("c3-c4").events[1:]) == Fault(
        2, "the match begins with 'accepted', not with 'start'"
    )


WRONG: dict[str, tuple[Script, Event, str]] = {
    "a second start": (Script(LONE), Start(t=0, n=0, position=LONE), "the match begins a second time"),
    "an illegal move accepted": (
        Script(LONE),
        Accepted(t=0, n=0, player="R", move="c3-c5", position=LONE_MOVED),
        "c3-c5 is not legal: DOM-5, ",
    ),
    "another position": (
        Script(LONE),
        Accepted(t=0, n=0, player="R", move="c3-c4", position=LONE),
        f"the position is '{LONE_MOVED}', not '{LONE}'",
    ),
    "another player": (
        Script(LONE),
        Accepted(t=0, n=0, player="G", move="c3-c4", position=LONE_MOVED),
        "G moved, but R was to move",
    ),
    "no move": (
        Script(LONE),
        Accepted(t=0, n=0, player="R", move="castling", position=LONE_MOVED),
        "'castling' is not a move",
    ),
    "a move after the end": (
        Script(LAST).play("c3-c4"),
        Accepted(t=0, n=0, player="-", move="c4-c5", position=WON),
        "c4-c5 was played after the end",
    ),
    "a move after a draw": (
        Script(LONE).play(*ROUND, *ROUND),
        Accepted(t=0, n=0, player="R", move="c3-c4", position=LONE_MOVED),
        "c3-c4 was played after the end",
    ),
    "more taken back than played": (
        Script(LONE).play("c3-c4"),
        TakenBack(t=0, n=0, moves=("c3-c4", "f6-f5"), position=LONE),
        "2 moves taken back, but 1 could be",
    ),
    "nothing taken back": (
        Script(LONE).play("c3-c4"),
        TakenBack(t=0, n=0, moves=(), position=LONE),
        "0 moves taken back, but 1 could be",
    ),
    "another move taken back": (
        Script(LONE).play("c3-c4"),
        TakenBack(t=0, n=0, moves=("c3-d3",), position=LONE),
        "c3-d3 was taken back, but c3-c4 had been played",
    ),
    "taken back to another position": (
        Script(LONE).play("c3-c4"),
        TakenBack(t=0, n=0, moves=("c3-c4",), position=LAST),
        f"the position is '{LONE}', not '{LAST}'",
    ),
    "taken back across a ruling": (
        Script(LONE).play("c3-c4").add(corrected(position=LAST)),
        TakenBack(t=0, n=0, moves=("c3-c4",), position=LONE),
        "1 move taken back, but 0 could be",
    ),
    "a ruling on an illegal move": (Script(LONE), corrected(move="c3-c5"), "c3-c5 is not legal: DOM-5, "),
    "a ruling with another position": (
        Script(LONE),
        corrected(move="c3-c4", position=LONE),
        f"the position is '{LONE_MOVED}', not '{LONE}'",
    ),
    "a position of another game": (
        Script(LONE),
        corrected(position="domination/3 " + LONE.split(" ", 1)[1]),
        " is not a position of domination",
    ),
    "a wrong accusation": (Script(LONE), illegal("c3-c4", "DOM-5"), "c3-c4 breaks nothing, not DOM-5"),
    "a wrong rule cited": (Script(LONE), illegal("c3-c5", "DOM-4"), "c3-c5 breaks DOM-5, not DOM-4"),
    "a rule of another game cited": (Script(LONE), illegal(None, "CIT-3"), "domination has no rule CIT-3"),
    "a skip of one who could move": (Script(LONE), Skipped(t=0, n=0, player="G"), "G could move and was not skipped"),
    "a wrong count": (Script(LONE).play(*ROUND), repeated(3), "the position occurred 2 times, not 3"),
    "a count no reading of a ruling gives": (
        Script(LONE).play("c3-c4").add(corrected(position=LONE)),
        repeated(3),
        "the position occurred 2 times, not 3",
    ),
    "another position repeated": (Script(LONE), repeated(1, LAST), f"the position is '{LONE}', not '{LAST}'"),
    "an end too early": (Script(LONE), over("R", "DOM-8", LONE), "the game has not ended by DOM-8"),
    "another winner": (Script(LAST).play("c3-c4"), over("G", "DOM-8", WON), "by the rules R wins by DOM-8"),
    "another reason": (Script(LAST).play("c3-c4"), over("R", "G-4", WON), "by the rules R wins by DOM-8"),
    "a square of another board": (
        Script(LONE),
        Unfinished(t=0, n=0, todo="x", cells=("z9",)),
        "z9 is no square of domination",
    ),
    "pieces of another game": (
        Script(LONE),
        Unfinished(t=0, n=0, todo="x", cells=("c3",), stacks=("RX",)),
        "RX are not pieces of domination",
    ),
    "a task of another game": (
        Script(LONE),
        Unfinished(t=0, n=0, todo="x", cells=(), rule="CIT-3"),
        "domination has no rule CIT-3",
    ),
    "a clock of another player": (
        Script(LONE),
        ClockChanged(t=0, n=0, state="running", player="B", players=("R", "B"), left=(1.0, 1.0), control="1m"),
        "B does not play domination",
    ),
    "an end elsewhere": (Script(LAST).play("c3-c4"), over("R", "DOM-8", LAST), f"not '{LAST}'"),
}


@pytest.mark.parametrize(("script", "event", "why"), WRONG.values(), ids=WRONG)
def test_an_untruth_is_found_at_its_event(script: Script, event: Event, why: str) -> None:
    assert first_fault(script.events) is None
    fault = first_fault([*script.events, replace(event, n=99)])
    assert fault is not None
    assert fault.n == 99
    assert why in fault.why


@pytest.mark.parametrize("position", ["domination", "chess 8 R", "domination 4 R", ""])
def test_a_start_that_is_no_position_is_found(position: str) -> None:
    fault = first_fault([Start(t=0, n=1, position=position)])
    assert fault is not None
    assert fault.n == 1


def test_rulings_without_end_are_followed_in_few_ways() -> None:
    script = Script(LONE).play("c3-c4")
    matches: tuple[Match, ...] = ()
    for event in script.events:
        matches = possible_matches(matches, event)
    for n in range(100):
        matches = possible_matches(matches, replace(corrected(position=LONE_MOVED), n=n + 3))
    assert len(matches) == MAX_HISTORIES


def random_match(seed: int, plies: int) -> list[Event]:
    """Return the events of a match of random legal moves, of which every tenth is taken back."""
    chance = random.Random(seed)
    game = load_game("domination")
    script = Script(format_position(game, game.start()))
    for ply in range(plies):
        match = script._match
        if match.outcome is not None:
            break
        move = chance.choice(match.game.legal_moves(match.position))
        text = format_move(match.game, match.position, move)
        script.play(text)
        if ply % 10 == 9:
            script.take_back(text)
    return script.events


def test_a_whole_random_match_holds_and_every_altered_position_in_it_is_found() -> None:
    events = random_match(seed=3, plies=40)
    assert len(events) > 40
    assert first_fault(events) is None
    moves = [i for i, event in enumerate(events) if isinstance(event, Accepted)]
    for i in moves[::5]:
        altered = list(events)
        # The position before a move never equals the one after it.
        altered[i] = replace(events[i], position=events[i - 1].position)
        fault = first_fault(altered)
        assert fault is not None
        assert fault.n == i + 1
