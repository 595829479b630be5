"""Draughts matches as PDN: written, read back, and read by another library."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import draughts
import pytest
from draughts.PDN import PDNReader

from companion.errors import CompanionError
from companion.events import Accepted, ClockChanged, Event, GameOver, Start
from companion.games import load_game, read_position
from companion.match import Match
from companion.recorder.store import MatchInfo
from companion.records.pdn import TYPES, format_fen, format_pdn, parse_fen, square_names
from companion.records.pdn_reading import AGREED, parse_pdn
from companion.records.record import MatchRecord
from companion.records.scanner import SheetError
from companion.rules.notation import format_move, format_position

NOW = datetime(2026, 11, 23, tzinfo=UTC)
VARIANTS = {
    "draughts": "english",
    "draughts:international": "standard",
    "draughts:russian": "russian",
    "draughts:brazilian": "brazilian",
}
ENGLISH = '[GameType "21"]\n\n'


def played(tag: str, seed: int, most: int = 400, start: str = "", names: tuple[str, ...] = ()) -> MatchRecord:
    """Return a match of random moves."""
    game, chance = load_game(tag), random.Random(f"{tag} {seed}")
    match = Match(*read_position(start)) if start else Match(game, game.start())
    begun = format_position(game, match.position)
    events: list[Event] = [Start(t=0.0, n=1, position=begun)]
    while match.outcome is None and len(events) <= most:
        move = chance.choice(game.legal_moves(match.position))
        text, mover, match = format_move(game, match.position, move), match.position.to_move, match.play(move)
        position = format_position(game, match.position)
        events.append(Accepted(t=float(len(events)), n=len(events) + 1, player=mover, move=text, position=position))
    if (end := match.outcome) is not None:
        position = format_position(game, match.position)
        events.append(GameOver(t=0.0, n=len(events) + 1, winner=end.winner, rule=end.rule, position=position))
    return MatchRecord(MatchInfo(tag, game.players, begun, NOW, "draughts", names), tuple(events))


def moves(record: MatchRecord) -> list[str]:
    """Return the accepted moves of a record."""
    return [event.move for event in record.events if isinstance(event, Accepted)]


@pytest.mark.parametrize("tag", TYPES)
@pytest.mark.parametrize("seed", range(4))
def test_a_match_comes_back_move_by_move_with_its_end_and_its_people(tag: str, seed: int) -> None:
    record = played(tag, seed, names=("Ada", "Grace"))
    text = format_pdn(record)
    (back,) = parse_pdn(text, NOW)
    assert moves(back) == moves(record)
    assert (back.info.names, back.info.game, back.info.started_at) == (("Ada", "Grace"), tag, NOW)
    assert [e.winner for e in back.events if isinstance(e, GameOver)] == [
        e.winner for e in record.events if isinstance(e, GameOver)
    ]
    assert format_pdn(back) == text


@pytest.mark.parametrize(("tag", "variant"), VARIANTS.items())
def test_another_library_reads_the_same_game(tag: str, variant: str) -> None:
    """Pydraughts plays the moves as written and reaches the same position."""
    record = played(tag, 7, most=60)
    *_, (_, match) = record.stages()
    (game,) = PDNReader(format_pdn(record)).games
    assert game.variant == variant
    board = draughts.Board(variant=variant)
    for text in game.moves:
        board.push(draughts.Move(board, pdn_move=text))
    assert len(game.moves) == len(moves(record))
    names = square_names(match.game.layout, TYPES[tag].squares)
    there = {(names[match.game.layout.cells[c]], s) for c, s in enumerate(match.position.board) if s}
    assert there == set(pieces(board.fen))


def pieces(fen: str) -> list[tuple[str, str]]:
    """Return the square and stack of every piece in pydraughts' FEN."""
    _, *sides = fen.split(":")
    squares = [(side[0], square) for side in sides for square in side[1:].rstrip(".").split(",") if square]
    return [(square.removeprefix("K"), letter * (1 + square.startswith("K"))) for letter, square in squares]


def test_squares_are_numbered_as_each_federation_counts() -> None:
    english = square_names(load_game("draughts").layout, TYPES["draughts"].squares)
    assert {english[name] for name in ("g1", "a1", "h2", "b8")} == {"1", "4", "5", "32"}
    wide = square_names(load_game("draughts:international").layout, TYPES["draughts:international"].squares)
    assert [wide[name] for name in ("b10", "j10", "a9", "a1", "i1")] == ["1", "5", "6", "46", "50"]
    assert square_names(load_game("draughts:russian").layout, "A0")["c3"] == "c3"


@pytest.mark.parametrize("tag", TYPES)
def test_positions_come_back(tag: str) -> None:
    game = load_game(tag)
    *_, (_, match) = played(tag, 3, most=50).stages()
    assert parse_fen(tag, format_fen(game, match.position)) == match.position
    assert parse_fen(tag, format_fen(game, game.start())) == game.start()


def test_a_range_of_squares_is_read() -> None:
    game = load_game("draughts:international")
    assert parse_fen("draughts:international", "W:W31-50:B1-20.") == game.start()


def test_a_match_that_began_elsewhere_says_where() -> None:
    start = "draughts 8/8/1,W,6/8/8/8/8/2,BB,5 W"
    record = played("draughts", 2, most=3, start=start)
    text = format_pdn(record)
    assert '[SetUp "1"]\n[FEN "W:W24:BK3"]' in text
    assert "1..." in text
    (back,) = parse_pdn(text, NOW)
    assert (back.start, moves(back)) == (start, moves(record))


def test_a_file_may_hold_several_games() -> None:
    records = [played(tag, 1, most=9) for tag in TYPES]
    back = list(parse_pdn("\n".join(map(format_pdn, records)), NOW))
    assert [moves(record) for record in back] == [moves(record) for record in records]


def test_results_are_written_as_each_federation_does() -> None:
    for tag, won in (("draughts", "0-1"), ("draughts:international", "0-2")):
        text = f'[GameType "{TYPES[tag].number}"]\n\n*'
        (record,) = parse_pdn(text.replace("*", won), NOW)
        over = record.result
        assert over is not None
        assert (over.winner, over.rule) == ("B", AGREED)
        assert f'[Result "{won}"]' in format_pdn(record)


def test_the_clock_is_a_comment() -> None:
    record = played("draughts", 1, most=1)
    told = ClockChanged(t=1.0, n=3, state="running", player="W", players=("B", "W"), left=(595.0, 600.0), control="10m")
    timed = MatchRecord(record.info, (*record.events, told))
    assert "{[%clock b0:09:55 w0:10:00]}" in format_pdn(timed)
    (back,) = parse_pdn(format_pdn(timed), NOW)
    assert moves(back) == moves(record)
    (clock,) = (event for event in back.events if isinstance(event, ClockChanged))
    assert (clock.player, clock.players, clock.left, clock.control) == ("W", ("B", "W"), (595.0, 600.0), "10m")
    assert format_pdn(back) == format_pdn(timed)


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("{[%clock w1:00:15 b0:45:10]}", (2710.0, 3615.0)),
        ("{A blunder. [%clock W0:01:00 B0:02:00] Why?}", (120.0, 60.0)),
        ("{[%clock w0:09:00]}", None),
        ("{[%clock whatever]}", None),
        ("{[%clock w0:99:00 b0:00:01]}", None),
        ("{[%emt 0:03]}", None),
    ],
)
def test_clock_comments_of_other_programs_are_read(comment: str, left: tuple[float, float] | None) -> None:
    (record,) = parse_pdn(f"{ENGLISH}1. 9-14 {comment} *", NOW)
    assert next((event.left for event in record.events if isinstance(event, ClockChanged)), None) == left
    assert len(moves(record)) == 1


def test_a_player_whose_time_is_not_told_again_keeps_it() -> None:
    (record,) = parse_pdn(f"{ENGLISH}1. 9-14 {{[%clock w0:10:00 b0:09:00]}} 22-18 {{[%clock w0:08:00]}} *", NOW)
    assert [event.left for event in record.events if isinstance(event, ClockChanged)] == [
        (540.0, 600.0),
        (540.0, 480.0),
    ]


def test_a_capture_may_leave_out_squares_as_long_as_it_is_clear() -> None:
    start = '[GameType "25"]\n[FEN "W:Wc3:Bd4,f6"]\n\n'
    for text in ("1. c3xg7 *", "1. c3xe5xg7 *", "1. c3:g7 *"):
        (record,) = parse_pdn(start + text, NOW)
        assert moves(record) == ["c3-g7xd4xf6"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "there is no game"),
        ('[Event "x"]\n\n1. 11-15 *', r"\[GameType ...\] is missing or unknown; known are 21 draughts"),
        (f"{ENGLISH}1. 11-16x *", "line 3, column 9"),
        (f"{ENGLISH}1. 9-14 9-13 *", "9-13 is not a legal move here"),
        (f"{ENGLISH}1. 9-77 *", "'77' is no dark square of this board"),
        (f"{ENGLISH}1. what *", "'what \\*' is no move, number, comment or result"),
        ('[GameType "21"]\n[FEN "W:Wq"]\n\n*', "FEN: 'q' is no dark square"),
        ('[GameType "21"]\n[FEN "W:W1:B"]\n\n*', "FEN: "),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, fault: str) -> None:
    with pytest.raises(SheetError, match=fault) as caught:
        list(parse_pdn(text, NOW))
    assert "\n" not in str(caught.value)


def test_other_games_have_no_pdn() -> None:
    with pytest.raises(CompanionError, match="PDN is for draughts, not for citadel"):
        format_pdn(played("citadel", 1, most=1))
