"""The results of a hall: read from its store, and formatted for pages and other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from companion.events import GameOver
from companion.games import load_game
from companion.hall import topics
from companion.hall.rounds import Finished, Round, Row, rows, scores
from companion.recorder.store import MatchInfo, Store
from companion.recorder.summary import summaries

AT = " at "
"""Separator of kit and table in a stored match's kit field."""


def seated(info: MatchInfo) -> tuple[str, str]:
    """The kit and the table of a match in a hall's store; the table is empty if the match came from none."""
    kit, at, table = info.kit.rpartition(AT)
    return (kit, table) if at and topics.TABLE.fullmatch(table) else (info.kit, "")


def finished_of(table: str, info: MatchInfo, over: GameOver) -> Finished:
    """The result of a match at a table; players without a name are named by their colours."""
    called, own = load_game(info.game).names, dict(zip(info.players, info.names, strict=False))
    names = tuple(own.get(player) or called[player] for player in info.players)
    winner = None if over.winner is None else info.players.index(over.winner)
    return Finished(table, names, winner, over.rule, is_named=all(map(own.get, info.players)))


def kept_results(store: Store) -> Iterator[Finished]:
    """The matches of a hall's store that have ended, oldest first; damaged ones are left out."""
    for summary in summaries(store):
        if summary.info is not None and summary.result is not None and (table := seated(summary.info)[1]):
            yield finished_of(table, summary.info, summary.result)


def results_row(rounds: tuple[Round, ...], finished: Iterable[Finished]) -> Mapping[str, Any]:
    """All results of a hall, round by round, and everybody's score, as JSON."""
    found = list(rows(rounds, finished))
    titles = dict.fromkeys(row.round for row in found)
    return {
        "rounds": [
            {
                "title": title,
                "matches": [
                    {"table": row.table, "names": row.names, "points": row.points}
                    for row in found
                    if row.round == title
                ],
            }
            for title in titles
        ],
        "scores": [{"name": name, "points": points, "played": played} for name, points, played in scores(found)],
    }


def results_csv(found: Iterable[Row]) -> str:
    """The results as CSV: a line for each player of each match."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("round", "table", "player", "points"))
    for row in found:
        for i, name in enumerate(row.names):
            writer.writerow((row.round, row.table, name, "" if row.points is None else f"{row.points[i]:g}"))
    return text.getvalue()
