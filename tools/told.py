"""A match that is told to a page without a table, as pictures and tests want it."""

from __future__ import annotations

import random

from companion.events import Accepted, Event, GameOver, Illegal, Restored, Start, Unfinished, Unsure
from companion.games import load_game
from companion.match import Match
from companion.referee.phrases import set_up_sentence
from companion.referee.snapshot import Snapshot
from companion.rules.game import Attempt, Stage
from companion.rules.notation import format_move, format_position
from companion.tracker.sights import format_sights, seen_of
from companion.web.feed import Feed
from companion.web.page import Page as WebPage

MOST_PLIES = 60
"""So long something is waited for that not every match brings."""


class Told:
    """A match that is told to a page without a table."""

    def __init__(self, name: str, seed: int = 3) -> None:
        self.game = load_game(name)
        self.match, self._rng = Match(self.game, self.game.start()), random.Random(seed)
        self.n = 0
        self.start = self.text
        self.feed = Feed(self.start)
        self.page = WebPage(("127.0.0.1", 0), self.feed)
        self.tell(Start(t=0.0, n=1, position=self.text), "watching")

    @property
    def text(self) -> str:
        """The position."""
        return format_position(self.game, self.match.position)

    def tell(self, event: Event, mode: str, wrong: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> None:
        """One event, and how the table stands after it."""
        self.n = event.n
        self.feed(event)
        mover = self.match.position.to_move
        self.feed.follow(event.t, Snapshot(mode, "clear", self.text, mover, "", wrong, options, None), None)  # type: ignore[arg-type]

    def play(self) -> None:
        """A random legal move, while there is any."""
        if self.match.outcome is not None:
            return
        position, mover = self.match.position, self.match.position.to_move
        move = self._rng.choice(self.game.legal_moves(position))
        text = format_move(self.game, position, move)
        self.match = self.match.play(move)
        self.tell(Accepted(t=self.n * 7.0, n=self.n + 1, player=mover, move=text, position=self.text), "watching")

    def offend(self) -> None:
        """An illegal move by whose turn it is."""
        position = self.match.position
        attempts = [act for act in self.game.attempts(position) if self._is_offence(act)]
        act = self._rng.choice(attempts)
        broken = self.game.violations(position, act.move)
        cells = tuple(self.game.layout.cells[cell] for cell in act.move.cells)
        layout, before = self.game.layout, self.game.table(position)
        event = Illegal(
            t=self.n * 7.0,
            n=self.n + 1,
            player=act.player,
            attempt=format_move(self.game, position, act.move),
            rules=tuple(dict.fromkeys(one.rule for one in broken)),
            reason=broken[0].text,
            cells=cells,
            seen=format_sights(layout, seen_of(self.game, act.table)),
            expected=format_sights(layout, seen_of(self.game, before)),
        )
        self.tell(event, "restoring", cells)

    def _is_offence(self, act: Attempt) -> bool:
        move, position = act.move, self.match.position
        both = move.source is not None and move.target is not None and not move.level
        return both and act.player == position.to_move and bool(self.game.violations(position, move))

    def restore(self) -> None:
        """The table is right again."""
        self.tell(Restored(t=self.n * 7.0, n=self.n + 1), "watching")

    def ask(self) -> None:
        """Which of two moves it was."""
        position = self.match.position
        moves = [format_move(self.game, position, move) for move in self.game.legal_moves(position)]
        options = tuple(self._rng.sample(moves, 2))
        question = f"Which was played: {options[0]} or {options[1]}?"
        self.tell(Unsure(t=self.n * 7.0, n=self.n + 1, options=options, question=question), "asking", (), options)

    def leave_unfinished(self) -> None:
        """A turn of which something is left to do, as soon as one comes up; nothing where none does."""
        for _ in range(MOST_PLIES):
            game, position = self.game, self.match.position
            halves = [(move, stage) for move in game.legal_moves(position) for stage in game.stages(position, move)]
            if halves:
                move, stage = self._rng.choice(halves)
                ended = game.table(game.play(position, move)).stacks
                self._remind(stage, tuple(ended[game.layout.index[cell]] for cell in stage.cells))
                return
            self.play()
            if (due := game.due(self.match.position)) is not None and due.cells:
                self._remind(due, ())
                return
            if self.match.outcome is not None:
                return

    def _remind(self, stage: Stage, stacks: tuple[str, ...]) -> None:
        event = Unfinished(
            t=self.n * 7.0, n=self.n + 1, todo=stage.todo, cells=stage.cells, stacks=stacks, rule=stage.rule
        )
        self.tell(event, "unfinished", stage.cells)

    def set_up(self) -> None:
        """Some squares do not show the position yet."""
        layout, table = self.game.layout, self.game.table(self.match.position)
        wrong = tuple(sorted(self._rng.sample([i for i, stack in enumerate(table.stacks) if stack], 3)))
        names = tuple(layout.cells[cell] for cell in wrong)
        stacks = tuple(table.stacks[cell] for cell in wrong)
        levels = () if table.levels is None else tuple(table.levels[cell] for cell in wrong)
        todo = set_up_sentence(layout, table, tuple((cell, "empty") for cell in wrong))
        event = Unfinished(t=self.n * 7.0, n=self.n + 1, todo=todo, cells=names, stacks=stacks, levels=levels)
        self.tell(event, "setting up", names)

    def end(self) -> None:
        """The player to move wins by a ruling."""
        winner = self.match.position.to_move
        self.tell(GameOver(t=self.n * 7.0, n=self.n + 1, winner=winner, rule="arbiter", position=self.text), "over")
