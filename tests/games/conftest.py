"""Helpers for tests of single rules: broken rules, their texts, and positions after moves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from companion.games import read_position
from companion.rules.notation import format_move, format_position, parse_move


@pytest.fixture
def broken() -> Callable[[str, str], list[str]]:
    """Return a function for the ids of the rules that a move breaks, in the order in which they are cited."""

    def ids(position_text: str, move_text: str) -> list[str]:
        game, position = read_position(position_text)
        return [violation.rule for violation in game.violations(position, parse_move(game, position, move_text))]

    return ids


@pytest.fixture
def sentence() -> Callable[[str, str, str], str]:
    """Return a function for the sentence that tells a player about one of the rules that a move breaks."""

    def text(position_text: str, move_text: str, rule: str) -> str:
        game, position = read_position(position_text)
        violations = game.violations(position, parse_move(game, position, move_text))
        return next(violation.text for violation in violations if violation.rule == rule)

    return text


@pytest.fixture
def after() -> Callable[..., str]:
    """Return a function for the text of the position after some moves, each of which must be legal."""

    def text(position_text: str, *move_texts: str) -> str:
        game, position = read_position(position_text)
        for move_text in move_texts:
            move = parse_move(game, position, move_text)
            assert game.violations(position, move) == ()
            position = game.play(position, move)
        return format_position(game, position)

    return text


@pytest.fixture
def legal() -> Callable[..., set[str]]:
    """Return a function for the legal moves of a position, or those of one cell."""

    def texts(position_text: str, square: str = "") -> set[str]:
        game, position = read_position(position_text)
        moves = {format_move(game, position, move) for move in game.legal_moves(position)}
        return {move for move in moves if move.startswith(square)}

    return texts


@pytest.fixture
def end() -> Callable[[str], tuple[str | None, str] | None]:
    """Return a function for the winner and the deciding rule of a finished game."""

    def outcome(position_text: str) -> tuple[str | None, str] | None:
        game, position = read_position(position_text)
        found = game.outcome(position)
        return None if found is None else (found.winner, found.rule)

    return outcome
