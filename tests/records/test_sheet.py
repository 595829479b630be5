"""Score sheets: all events are read back, and errors have a line and a column."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.errors import BadText
from companion.events import KINDS, GameOver
from companion.records.record import MatchRecord
from companion.records.scanner import SheetError
from companion.records.sheet import WIDTH, format_sheet
from companion.records.sheet_reading import parse_sheet
from tests.records.conftest import Play, played

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def test_a_match_is_read_back_whole(record: MatchRecord) -> None:
    read = parse_sheet(format_sheet(record), NOW)
    assert read.info == record.info
    assert read.events == record.events
    assert format_sheet(read) == format_sheet(record)


def test_every_kind_of_event_is_among_them() -> None:
    kinds = {event.event for seed in range(8) for event in played("domination:classic/3", seed, 300).events}
    kinds |= {event.event for seed in range(8) for event in played("ziggurat", seed, 300).events}
    assert kinds >= KINDS.keys() - {"skipped", "repeated"}


def test_whole_matches_end_as_they_ended(play: Play) -> None:
    for tag in ("citadel", "cheight", "ziggurat"):
        for seed in range(3):
            record = play(tag, seed, 400)
            assert parse_sheet(format_sheet(record), NOW).result == record.result


def test_names_are_kept(play: Play) -> None:
    record = play("domination", names=("Ada Lovelace", 'Émile "le Pion" [x]'))
    assert parse_sheet(format_sheet(record), NOW).info.names == record.info.names


def test_times_are_kept_to_the_millisecond(play: Play) -> None:
    record = play("domination", plies=4)
    third = replace(record.events[1], t=1 / 3)
    read = parse_sheet(format_sheet(replace(record, events=(record.events[0], third, *record.events[2:]))), NOW)
    assert read.events[1].t == 0.333


def test_a_sheet_reads_like_one(play: Play) -> None:
    lines = format_sheet(play("domination", names=("Ada", "Ben"))).splitlines()
    assert lines[:5] == [
        '[Game "domination"]',
        '[Date "2026-11-21T19:30:00+00:00"]',
        '[Kit "kit"]',
        '[Player "R Ada"]',
        '[Player "G Ben"]',
    ]
    assert re.fullmatch(r"  1\. R \S+ +@1\.250", lines[8])
    assert all(len(line) <= WIDTH for line in lines if '"' not in line)


def test_one_by_hand_needs_little() -> None:
    record = parse_sheet('[Game "domination"] c3-d3 ; a good beginning\n 2. G d7-d8 R e2-e1 @7', NOW)
    assert [event.event for event in record.events] == ["start", "accepted", "accepted", "accepted"]
    assert [event.t for event in record.events] == [0, 0, 0, 7]
    assert (record.info.started_at, record.info.kit, record.info.names) == (NOW, "domination", ())


def test_the_end_by_the_rules_need_not_be_written() -> None:
    sheet = '[Game "domination"][Start "domination 4/6/8/8/2,G,5/2,R,5/6/4 R"] c3-c4'
    end = parse_sheet(sheet, NOW).events[-1]
    assert isinstance(end, GameOver)
    assert (end.n, end.winner, end.rule) == (3, "R", "DOM-8")


HEAD = '[Game "domination"]\n'


@pytest.mark.parametrize(
    ("sheet", "complaint"),
    [
        ("", r"line 1, column 1: a score sheet begins with \[Game"),
        ("c3-c4", r"line 1, column 1: a score sheet begins with \[Game"),
        ('[Game "chess"]', r"line 1, column 1: there is no game 'chess'"),
        ('\n [Gme "x"]', "line 2, column 2: there is no header Gme"),
        (HEAD + '[Game "citadel"]', "line 2, column 1: a second header Game"),
        (HEAD + '[Date "today"]', "line 2, column 1: 'today' is no time"),
        (HEAD + '[Date "2026-01-01"]', "line 2, column 1: .* is no time with a time zone"),
        (HEAD + '[Player "X Ada"]', "line 2, column 1: 'X' is no player; they are R G"),
        (HEAD + '[Start "citadel"]', "line 2, column 1: "),
        (HEAD + "[Start x]", r"line 2, column 1: a header is written \[Name"),
        (HEAD + '[Result "R DOM-8"]', r"line 2, column 1: by what follows the result is '\*'"),
        (HEAD + "c3-d3 c3-d3", "line 2, column 7: c3-d3 is not legal"),
        (HEAD + "c1-c9", "line 2, column 1: c9 is no square"),
        (HEAD + "hello", "line 2, column 1: 'hello' is not a move"),
        (HEAD + "2. c3-d3", "line 2, column 1: the next move is number 1"),
        (HEAD + "1. 2. c3-d3", "line 2, column 4: here must stand a move"),
        (HEAD + "G c3-d3", "line 2, column 3: R is to move, not G"),
        (HEAD + "@3.5", "line 2, column 1: what stands outside"),
        (HEAD + "}", "line 2, column 1: what stands outside"),
        (HEAD + "c3-d3 [Kit", "line 2, column 7: a header is written"),
        (HEAD + 'c3-d3 [Kit "x"]', "line 2, column 7: what stands outside"),
        (HEAD + "{", "line 2, column 1: here must stand a time"),
        (HEAD + "{ nice }", "line 2, column 3: here must stand a time"),
        (HEAD + "{@1 }", "line 2, column 5: here must stand an event"),
        (HEAD + "{@1 smile}", "line 2, column 5: there is no event 'smile'"),
        (HEAD + "{@1 restored", "line 2, column 1: here must stand name=value, or }"),
        (HEAD + "{@1 restored by=me}", "line 2, column 5: restored has no field 'by'"),
        (HEAD + "{@1 view}", "line 2, column 5: view needs the field state="),
        (HEAD + "{@1 view state=a state=b}", "line 2, column 18: a second state="),
        (HEAD + "{@1 view state=a,b}", "line 2, column 5: view: state is one value, not 2"),
        (HEAD + '{@1 view state="a}', "line 2, column 10: "),
        (HEAD + '{@1 view state="\\q"}', "line 2, column 5: the text .* is not written as in JSON"),
        (HEAD + "{@1 repeated times=x}", "line 2, column 5: repeated: times must be a number"),
        (
            HEAD + "{@1 clock state=flag players=R left=nan control=1m}",
            "line 2, column 5: clock: left must be a finite",
        ),
        (HEAD + "{@1 start}", "line 2, column 5: the match begins a second time"),
        (HEAD + "{@1 taken-back moves=c3-d3}", "line 2, column 5: cannot take back 1 move"),
        (HEAD + "{@1 game-over rule=DOM-8}", "line 2, column 5: the game has not ended by DOM-8"),
    ],
)
def test_what_is_wrong_has_a_line_and_a_column(sheet: str, complaint: str) -> None:
    with pytest.raises(SheetError, match=f"^{complaint}"):
        parse_sheet(sheet, NOW)


def test_an_endless_sheet_is_refused_unread() -> None:
    with pytest.raises(SheetError, match="no score sheet is that long"):
        parse_sheet(" " * 20_000_001, NOW)


SHEET = format_sheet(played("domination", plies=9, names=("Ada", "Ben")))
TOKENS = st.sampled_from(
    [
        *SHEET.split(),
        "{",
        "}",
        "[",
        "]",
        '"',
        ";",
        "\n",
        "@1",
        "@-1",
        "12.",
        "R",
        "c3-d3",
        "*c3",
        "-",
        "state=",
        "=",
        ",",
    ]
)


def check(sheet: str) -> None:
    """Check that a sheet is read and survives a round trip, or is refused on one line with a place."""
    try:
        record = parse_sheet(sheet, NOW)
    except BadText as error:
        complaint = str(error)
    else:
        assert len(parse_sheet(format_sheet(record), NOW).events) == len(record.events)
        return
    assert re.fullmatch(r"line \d+, column \d+: [^\n]+", complaint)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    check(text)
    check(HEAD + text)


@given(st.lists(TOKENS, max_size=30), st.sampled_from(["", HEAD]))
def test_so_is_any_row_of_its_words(words: list[str], head: str) -> None:
    check(head + " ".join(words))


@settings(max_examples=150)
@given(st.data())
def test_so_is_a_sheet_with_something_put_in_or_left_out(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(SHEET)))
    end = min(len(SHEET), start + data.draw(st.integers(0, 12)))
    check(SHEET[:start] + data.draw(st.text(max_size=3) | TOKENS) + SHEET[end:])


@pytest.mark.parametrize(("tag", "kit"), [("domination/3", "domination"), ("draughts:international", "draughts-10")])
def test_a_sheet_without_a_kit_has_the_one_that_its_game_comes_with(tag: str, kit: str) -> None:
    assert parse_sheet(f'[Game "{tag}"]\n', NOW).info.kit == kit
