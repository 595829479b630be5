"""The rules that all games share, and the names of the usual colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from companion.rules.board import NOBODY, Player
from companion.rules.game import Rule

COLOURS: Mapping[Player, str] = MappingProxyType({"R": "Red", "G": "Green", "B": "Blue", "Y": "Yellow"})


def read_rules(prose: str) -> tuple[Rule, ...]:
    """Rules from prose, one a paragraph: a line ``id title``, the text, and its refusal in lines after ``!``."""
    return tuple(map(_read_rule, prose.strip().split("\n\n")))


def _read_rule(paragraph: str) -> Rule:
    head, *lines = paragraph.splitlines()
    number, _, title = head.partition(" ")
    text, _, refusal = " ".join(line.strip() for line in lines).partition(" ! ")
    return Rule(number, title, text, refusal)


SHARED_RULES = read_rules(
    """
G-1 Turns
Players act in turn; a turn is exactly one move. Only the player to move may change the board.
! {what} is {owner}'s, and it is {mover}'s turn.

G-2 One thing at a time
A move is made with pieces of one stack (or one reserve piece, one pillar); nothing else on the board may be touched or
shifted.
! {what}; one turn is one move, made with what stands in one place, and all the rest stays as it is.

G-3 Skipping
A player without a legal move is skipped; if nobody can move the game is drawn.

G-4 Repetition
The same position for the third time is a draw, which the match reports.

G-5 After the end
After the game has ended no move is legal.
! the game is over, so {what} no longer counts.
"""
)


def by_id(rules: Iterable[Rule]) -> Mapping[str, Rule]:
    """The rules by id, in order, read-only; of two with the same id the later counts, in the earlier's place."""
    return MappingProxyType({rule.id: rule for rule in rules})


def next_player(players: tuple[Player, ...], after: Player, is_able: Callable[[Player], bool]) -> Player:
    """The next player in turn after ``after`` who is able to move (G-3); NOBODY if none is."""
    here = players.index(after) + 1
    for player in players[here:] + players[:here]:
        if is_able(player):
            return player
    return NOBODY
