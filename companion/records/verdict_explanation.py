"""Explains a verdict: what was said, what was seen, and what else it might have been."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Any

from calibration.files import MAX_PICTURE_BYTES, read_bytes
from companion.errors import CompanionError
from companion.events import Event, to_json
from companion.games import load_game
from companion.languages.english import counted
from companion.match import Match
from companion.phrases import language, sentence
from companion.recorder.store import MatchId, Store
from companion.records.figures import Figure, make_figure
from companion.records.record import MatchRecord, load_record
from companion.records.shots import recorded_shots
from companion.referee import grounds as accounts
from companion.referee.grounds import Grounds
from companion.rules.drawing import draw_text
from companion.rules.game import Rule

CERTAIN, UNLIKELY = 0.999, 0.0001
"""Limits of probabilities shown: closer to one or zero, the three decimals of a stored logarithm are too few."""


@dataclass(frozen=True)
class VerdictExplanation:
    """A verdict with everything that was stored about it.

    Attributes:
        number: number of the match.
        kit: name of the match's kit.
        figure: the event, the match after it, the squares concerned.
        grounds: the grounds of the verdict; None for people's orders, and for imported matches.
        picture: the decisive picture, JPEG; None if there is none any more.
    """

    number: MatchId
    kit: str
    figure: Figure
    grounds: Grounds | None
    picture: bytes | None

    @property
    def event(self) -> Event:
        """The verdict."""
        return self.figure.event

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that it cites."""
        cited = (*getattr(self.event, "rules", ()), getattr(self.event, "rule", ""))
        return tuple(self.figure.match.game.rules[rule] for rule in cited if rule in self.figure.match.game.rules)


def explain(store: Store, match: MatchId, n: int) -> VerdictExplanation:
    """The explanation of event ``n`` of a match.

    Raises:
        StoreError: no such match, or it is damaged.
        CompanionError: no such event, or the record breaks the rules before it.
    """
    record = load_record(store, match)
    if not 0 < n <= len(record.events):
        raise CompanionError(f"match {match} has no event {n}; it has {len(record.events)}, from 1")
    before: Match | None = None
    for event, after in record.stages():
        if event.n == n:
            figure = make_figure(event, before or after, after, record.names)
            picture = store.evidence(match, n) or _recorded(store, match, event.t)
            return VerdictExplanation(match, record.info.kit, figure, record.grounds.get(n), picture)
        before = after
    raise AssertionError("every event has a stage")


def _recorded(store: Store, match: MatchId, t_s: float) -> bytes | None:
    """The picture at that time from a recording; None if there is none."""
    file = recorded_shots(store.recordings(match)).at(t_s)
    try:
        return None if file is None else read_bytes(file, MAX_PICTURE_BYTES)
    except OSError:
        return None


def listing(record: MatchRecord) -> list[str]:
    """All events of a match, one per line, with the numbers by which they can be explained."""
    lang = language("en", load_game(record.info.game))
    return [f"{e.n:>4} {e.t:>8.1f} s  {e.event:<11} {sentence(e, lang, record.names)}" for e in record.events]


def to_row(told: VerdictExplanation) -> dict[str, Any]:
    """The explanation as a JSON object, without the picture itself."""
    return {
        "match": told.number,
        "event": to_json(told.event),
        "says": told.figure.caption,
        "rules": [{"id": rule.id, "title": rule.title, "text": rule.text} for rule in told.rules],
        "grounds": None if told.grounds is None else accounts.to_json(told.grounds),
        "picture": None if told.picture is None else len(told.picture),
    }


def lines(told: VerdictExplanation) -> list[str]:
    """The explanation as lines of text for a terminal."""
    match, game = told.figure.match, told.figure.match.game
    made = [f"Match {told.number}, event {told.event.n}, {told.event.t:.1f} s: {told.event.event}", told.figure.caption]
    made += [f"  {rule.id} {rule.title}: {rule.text}" for rule in told.rules]
    made += ["", *draw_text(game, match.position).splitlines(), "", *grounds_lines(told.grounds)]
    return [*made, "", picture_line(told)]


def grounds_lines(grounds: Grounds | None) -> list[str]:
    """The grounds as lines of text in columns."""
    if grounds is None:
        return ["No picture led to this."]
    calm = f"after {grounds.calm_s:.2f} s of calm"
    made = [f"Decided from {counted(grounds.readings, 'picture')}, {calm}."]
    made += ["What it may have been:"]
    made += [f"  {percent(told.log_p):>10}  {told.what}" for told in grounds.explanations]
    if grounds.squares:
        made += ["Squares (against: how much the pictures speak against the verdict, in nats):"]
        made += [f"  {'square':<8}{'expected':<10}{'read':<10}{'believed':<10}against"]
        for square in grounds.squares:
            read = "hidden" if square.hidden else square.read
            made.append(
                f"  {square.cell:<8}{square.expected:<10}{read:<10}{square.believed:<10}{abs(square.log_p):.1f}"
            )
    if grounds.compared:
        made += ["Looked at a second time (against: how much the pictures speak against this table, in nats):"]
        made += [f"  {abs(one.log_p):>10.1f}  {one.what}" for one in grounds.compared]
    return made


def percent(log_p: float) -> str:
    """A probability in per cent; one near zero or one is given as a bound, since it was rounded."""
    share = exp(min(log_p, 0.0))
    if share > CERTAIN:
        return f"> {100 * CERTAIN:g} %"
    return f"{100 * share:.2f} %" if share >= UNLIKELY else f"< {100 * UNLIKELY:g} %"


def picture_line(told: VerdictExplanation) -> str:
    """A line that says whether there is a picture."""
    if told.picture is None:
        return "No picture of it was kept."
    return f"Its picture was kept ({len(told.picture) // 1000} kB): -o FILE.html or -o FILE.jpg shows it."
