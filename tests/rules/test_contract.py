"""Properties that every game must have, whatever its rules; new games are tested automatically."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from companion.rules.board import NOBODY, Cell, Table
from companion.rules.citing import is_same_stack
from companion.rules.game import Game, Move, Position, view
from companion.rules.notation import format_move, format_position, parse_move, parse_position
from tests.rules.conftest import attempted, lookalikes


def test_start_is_the_first_players_turn(game: Game, tag: str) -> None:
    assert game.tag == tag
    assert game.start().to_move == game.players[0]
    assert game.outcome(game.start()) is None


def test_rules_have_ids_titles_and_texts(game: Game) -> None:
    for number, rule in game.rules.items():
        assert rule.id == number
        assert rule.title
        assert rule.text.endswith(".")


def test_legal_moves_are_the_attempts_without_violations(game: Game, sample: list[Position]) -> None:
    for position in sample:
        moves = game.legal_moves(position)
        allowed = {
            attempt.move for attempt in attempted(game.tag, position) if not game.violations(position, attempt.move)
        }
        assert len(moves) == len(set(moves))
        assert set(moves) == allowed


def test_attempts_leave_the_table_that_play_leaves(game: Game, sample: list[Position]) -> None:
    for position in sample:
        tables = {attempt.move: attempt.table for attempt in attempted(game.tag, position)}
        for move in game.legal_moves(position):
            assert tables[move] == game.table(game.play(position, move))


def test_attempts_within_some_cells_are_those_that_touch_no_other(game: Game, sample: list[Position]) -> None:
    chance = random.Random(3)
    for position in sample:
        changes = [(attempt, seen_to_change(position, attempt.move)) for attempt in attempted(game.tag, position)]
        for size in (1, 2, 5):
            within = frozenset(chance.sample(range(len(position.board)), size))
            touching = {attempt for attempt, cells in changes if cells <= within}
            assert set(game.attempts(position, within)) == touching


def seen_to_change(position: Position, move: Move) -> set[Cell]:
    """Return the cells that an act visibly changes: an exchange with a covered piece shows only at its source."""
    is_covered = move.target is not None and 0 < move.level < len(position.board[move.target])
    return set(move.cells) - ({move.target} if is_covered and move.target != move.source else set())


def test_only_the_player_to_move_may_act(game: Game, sample: list[Position]) -> None:
    for position in sample:
        for attempt in attempted(game.tag, position):
            if attempt.player != position.to_move:
                broken = {violation.rule for violation in game.violations(position, attempt.move)}
                assert broken & {"G-1", "G-2", "G-5"}


def test_after_the_end_nothing_is_legal(game: Game, positions: tuple[Position, ...]) -> None:
    for position in positions:
        over = position.to_move == NOBODY
        assert (game.outcome(position) is not None) == over
        assert (not game.legal_moves(position)) == over
        if over:
            for attempt in game.attempts(position, frozenset(range(12))):
                assert [violation.rule for violation in game.violations(position, attempt.move)] == ["G-5"]


def test_positions_round_trip(game: Game, positions: tuple[Position, ...]) -> None:
    for position in positions:
        assert parse_position(game, format_position(game, position)) == position


def test_moves_round_trip(game: Game, sample: list[Position]) -> None:
    for position in sample:
        moves = game.legal_moves(position)
        texts = [format_move(game, position, move) for move in moves]
        assert len(set(texts)) == len(moves)
        assert [parse_move(game, position, text) for text in texts] == list(moves)


def test_attempts_have_texts_of_their_own(game: Game, sample: list[Position]) -> None:
    for position in sample:
        for attempt in game.attempts(position, frozenset(range(9))):
            text = format_move(game, position, attempt.move)
            assert format_move(game, position, parse_move(game, position, text)) == text


def test_a_move_brings_at_most_one_piece_the_one_it_names_or_one_of_the_movers(
    game: Game, sample: list[Position]
) -> None:
    for position in sample:
        before = Counter("".join(position.board))
        for move in game.legal_moves(position):
            appeared = Counter("".join(game.play(position, move).board)) - before
            assert appeared.total() <= 1
            for piece in appeared:
                assert piece == move.piece or (not move.piece and game.owner(piece) == position.to_move)


def test_a_move_changes_only_the_cells_that_it_names(game: Game, sample: list[Position]) -> None:
    for position in sample:
        before = game.table(position)
        for move in game.legal_moves(position):
            after = game.table(game.play(position, move))
            changed = {cell for cell, stack in enumerate(before.stacks) if stack != after.stacks[cell]}
            if before.levels is not None and after.levels is not None:
                changed |= {cell for cell, level in enumerate(before.levels) if level != after.levels[cell]}
            assert changed <= set(move.cells)
            assert len(move.taken) <= game.most_taken


def test_play_leaves_the_old_position_alone(game: Game, sample: list[Position]) -> None:
    for position in sample:
        text = format_position(game, position)
        for move in game.legal_moves(position):
            game.play(position, move)
        assert format_position(game, position) == text


def test_violations_are_sentences_about_squares(game: Game, sample: list[Position]) -> None:
    """Each violation names a cell, unless the game is over or another act is due first."""
    for position in sample:
        is_about_squares = position.to_move != NOBODY and game.due(position) is None
        for attempt in game.attempts(position, frozenset(range(14))):
            for violation in game.violations(position, attempt.move):
                assert violation.rule in game.rules
                assert set(violation.cells) <= set(game.layout.cells)
                assert violation.text.endswith(".")
                assert "{" not in violation.text
                assert "\n" not in violation.text
                if is_about_squares:
                    assert any(cell in violation.text for cell in violation.cells), violation


def test_moves_of_other_games_are_refused(game: Game) -> None:
    """Every kind of move text has an answer in every game: legal, or the rules that it breaks."""
    position = game.start()
    strange = [Move(0, None, 1), Move(0, 1, level=1), Move(None, 4, step=1), Move(None, 4, piece=game.pieces[0])]
    for move in strange:
        assert (move in game.legal_moves(position)) == (not game.violations(position, move))


def test_an_empty_square_has_nothing_to_move(game: Game, positions: tuple[Position, ...]) -> None:
    position = next(p for p in positions if "" in p.board and p.to_move != NOBODY)
    empty = position.board.index("")
    target = empty - 1 if empty else 1
    broken = [violation.rule for violation in game.violations(position, Move(empty, target, 0))]
    assert broken[0] == "G-2"
    assert len(broken) > 1


def test_stages_lie_between_the_old_table_and_the_new(game: Game, sample: list[Position]) -> None:
    for position in sample:
        for move in game.legal_moves(position):
            after = game.table(game.play(position, move))
            for stage in game.stages(position, move):
                assert stage.table not in (game.table(position), after)
                assert stage.todo
                assert stage.cells


def test_breaches_cite_what_no_single_act_explains(game: Game, sample: list[Position]) -> None:
    chance = random.Random(4)
    for position in sample:
        stacks = list(position.board)
        chance.shuffle(stacks)
        hidden = tuple("?" * (len(stack) - 1) + stack[-1:] for stack in stacks)
        broken = game.breaches(position, Table(hidden, game.table(position).levels))
        assert broken
        assert {violation.rule for violation in broken} <= set(game.rules)
        assert (broken[0].rule == "G-5") == (position.to_move == NOBODY)
        assert all(violation.text.endswith(".") for violation in broken)


def test_breaches_of_a_piece_added_or_gone_name_its_square(game: Game, positions: tuple[Position, ...]) -> None:
    position = next(p for p in positions if any(p.board) and p.to_move != NOBODY)
    full = next(cell for cell, stack in enumerate(position.board) if stack)
    for stack in ("", position.board[full] * 2):
        stacks = tuple(stack if cell == full else old for cell, old in enumerate(position.board))
        first = game.breaches(position, Table(stacks, game.table(position).levels))[0]
        assert first.rule == "G-2"
        assert first.cells == (game.layout.cells[full],)


def test_a_hidden_piece_may_be_any_piece(game: Game, positions: tuple[Position, ...]) -> None:
    for position in positions[:30]:
        for stack in filter(None, position.board):
            assert is_same_stack(stack, "?" * (len(stack) - 1) + stack[-1])
            assert not is_same_stack(stack, stack + stack[-1])


def test_views_show_tops_and_heights(game: Game, sample: list[Position]) -> None:
    for position in sample:
        seen = view(game, game.table(position))
        for stack, (height, top) in zip(position.board, seen.sights, strict=True):
            assert top == (stack[-1] if stack else None)
            assert height is None or height == len(stack)


def test_legal_moves_look_different_unless_the_game_says_that_some_do_not(
    game: Game, positions: tuple[Position, ...]
) -> None:
    """Each legal move also changes the look of the board.  Games with exceptions test those in ``tests/games``."""
    if not game.has_lookalikes:
        for position in positions[::3]:
            assert list(lookalikes(game, position)) == []


@pytest.mark.rule("G-3")
def test_who_is_to_move_can_move(game: Game, positions: tuple[Position, ...]) -> None:
    for position in positions:
        if position.to_move != NOBODY:
            assert game.legal_moves(position)
