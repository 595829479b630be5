"""Publishes a scripted match to a web page without a camera, for screenshots and tests."""

from __future__ import annotations

import random

from companion.events import Accepted, Event, GameOver, Illegal, Restored, Start, Unfinished, Unsure
from companion.games import load_game
from companion.match import Match
from companion.referee.phrases import set_up_sentence
from companion.referee.snapshot import Snapshot
from companion.rules.game import Attempt, Stage
from companion.rules.notation import format_move, format_position
from companion.tracker.sights import format_sights, table_sights
from companion.web.feed import Feed
from companion.web.page import Page as WebPage

MAX_PLIES = 60
"""Number of plies after which the search for an unfinished turn is given up."""


class ScriptedMatch:
    """A match whose events are published directly to a web page, without a referee or a camera.

    Attributes:
        match: the position and its history.
        n: number of the latest event.
        start: the start position, in notation.
        feed: receives the events.
        page: the running web page; the caller closes it.
    """

    def __init__(self, name: str, seed: int = 3) -> None:
        self.game = load_game(name)
        self.match, self._rng = Match(self.game, self.game.start()), random.Random(seed)
        self.n = 0
        self.start = self.text
        self.feed = Feed(self.start)
        self.page = WebPage(("127.0.0.1", 0), self.feed)
        self.publish(Start(t=0.0, n=1, position=self.text), "watching")

    @property
    def text(self) -> str:
        """The current position in notation."""
        return format_position(self.game, self.match.position)

    def publish(self, event: Event, mode: str, wrong: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> None:
        """Publish an event and the referee's state after it.

        ``mode``: the referee's mode; ``wrong``: names of squares to correct; ``options``: moves to choose from.
        """
        self.n = event.n
        self.feed(event)
        mover = self.match.position.to_move
        self.feed.follow(event.t, Snapshot(mode, "clear", self.text, mover, "", wrong, options, None), None)  # type: ignore[arg-type]

    def play(self) -> None:
        """Play a random legal move; do nothing after the end of the match."""
        if self.match.outcome is not None:
            return
        position, mover = self.match.position, self.match.position.to_move
        move = self._rng.choice(self.game.legal_moves(position))
        text = format_move(self.game, position, move)
        self.match = self.match.play(move)
        self.publish(Accepted(t=self.n * 7.0, n=self.n + 1, player=mover, move=text, position=self.text), "watching")

    def play_illegal(self) -> None:
        """Let the player to move attempt a random illegal move."""
        position = self.match.position
        attempts = [act for act in self.game.attempts(position) if self._is_plain_violation(act)]
        act = self._rng.choice(attempts)
        violations = self.game.violations(position, act.move)
        cells = tuple(self.game.layout.cells[cell] for cell in act.move.cells)
        layout, before = self.game.layout, self.game.table(position)
        event = Illegal(
            t=self.n * 7.0,
            n=self.n + 1,
            player=act.player,
            attempt=format_move(self.game, position, act.move),
            rules=tuple(dict.fromkeys(violation.rule for violation in violations)),
            reason=violations[0].text,
            cells=cells,
            seen=format_sights(layout, table_sights(self.game, act.table)),
            expected=format_sights(layout, table_sights(self.game, before)),
        )
        self.publish(event, "restoring", cells)

    def _is_plain_violation(self, act: Attempt) -> bool:
        """Whether an attempt is an illegal move from one square to another by the player to move."""
        move, position = act.move, self.match.position
        has_both_squares = move.source is not None and move.target is not None and not move.level
        return has_both_squares and act.player == position.to_move and bool(self.game.violations(position, move))

    def restore(self) -> None:
        """Report that the position has been restored."""
        self.publish(Restored(t=self.n * 7.0, n=self.n + 1), "watching")

    def ask_question(self) -> None:
        """Ask which of two random legal moves was played."""
        position = self.match.position
        moves = [format_move(self.game, position, move) for move in self.game.legal_moves(position)]
        options = tuple(self._rng.sample(moves, 2))
        question = f"Which was played: {options[0]} or {options[1]}?"
        self.publish(Unsure(t=self.n * 7.0, n=self.n + 1, options=options, question=question), "asking", (), options)

    def leave_unfinished(self) -> None:
        """Play until a turn can be left unfinished, and publish what is left to do; give up after MAX_PLIES plies."""
        for _ in range(MAX_PLIES):
            game, position = self.game, self.match.position
            unfinished = [(move, stage) for move in game.legal_moves(position) for stage in game.stages(position, move)]
            if unfinished:
                move, stage = self._rng.choice(unfinished)
                stacks_after = game.table(game.play(position, move)).stacks
                self._publish_unfinished(stage, tuple(stacks_after[game.layout.index[cell]] for cell in stage.cells))
                return
            self.play()
            if (due := game.due(self.match.position)) is not None and due.cells:
                self._publish_unfinished(due, ())
                return
            if self.match.outcome is not None:
                return

    def _publish_unfinished(self, stage: Stage, stacks: tuple[str, ...]) -> None:
        event = Unfinished(
            t=self.n * 7.0, n=self.n + 1, todo=stage.todo, cells=stage.cells, stacks=stacks, rule=stage.rule
        )
        self.publish(event, "unfinished", stage.cells)

    def begin_setup(self) -> None:
        """Ask for three random occupied squares to be set up, as if they were still empty."""
        layout, table = self.game.layout, self.game.table(self.match.position)
        wrong = tuple(sorted(self._rng.sample([i for i, stack in enumerate(table.stacks) if stack], 3)))
        names = tuple(layout.cells[cell] for cell in wrong)
        stacks = tuple(table.stacks[cell] for cell in wrong)
        levels = () if table.levels is None else tuple(table.levels[cell] for cell in wrong)
        todo = set_up_sentence(layout, table, tuple((cell, "empty") for cell in wrong))
        event = Unfinished(t=self.n * 7.0, n=self.n + 1, todo=todo, cells=names, stacks=stacks, levels=levels)
        self.publish(event, "setting up", names)

    def end_by_ruling(self) -> None:
        """End the match: the player to move wins by the arbiter's ruling."""
        winner = self.match.position.to_move
        self.publish(GameOver(t=self.n * 7.0, n=self.n + 1, winner=winner, rule="arbiter", position=self.text), "over")
