"""What the referee does at each transition: (state, fact, time) → (state, events).  Pure; no clock, no numbers yet.

Events leave here with ``n`` 0; :class:`companion.referee.referee.Referee` numbers them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce

from companion.events import (
    Accepted,
    Corrected,
    Event,
    GameOver,
    Illegal,
    Repeated,
    Restored,
    Skipped,
    TakenBack,
    Unfinished,
    Unsure,
    Withdrawn,
)
from companion.match import Match, format_moves
from companion.referee import orders
from companion.referee.patience import SET_UP_S, after_motion
from companion.referee.phrases import UNMOVED, question, set_up_sentence
from companion.referee.state import Fact, State
from companion.referee.states import Action, Mode, Trigger, table
from companion.rules.game import Move, Outcome, Stage
from companion.rules.notation import format_move, format_position
from companion.tracker import interpret as meanings
from companion.tracker.diagnose import view_of
from companion.tracker.scoring import Context
from companion.tracker.sights import (
    Changes,
    Place,
    apply_changes,
    format_sight,
    format_sights,
    name_of,
    names_of,
    position_sights,
)

Events = tuple[Event, ...]
Result = tuple[State, Events]


def step(state: State, trigger: Trigger, fact: Fact, t_s: float) -> Result:
    """One transition of the table, followed by the end of the match if it has ended.

    Raises:
        OrderRefused: nothing of this kind can happen in this mode.
    """
    row = table(confirming=state.confirming).get((state.mode, trigger))
    if row is None:
        raise orders.OrderRefused(f"{trigger.value}: not while the referee is {state.mode.value}")
    mode, action = row
    following, events = ACTIONS[action](state, fact, t_s)
    following = replace(following, mode=mode)
    if following.outcome is None or mode in (Mode.OVER, Mode.PAUSED):
        return following, events
    ended, farewell = step(following, Trigger.ENDED, Fact(), t_s)
    return ended, events + farewell


def end_calm(state: State) -> State:
    """``state`` once something moves: suspicions end, and lines of an unclear table are kept as doubted."""
    if state.suspicion is None:
        return state
    context = state.context
    # Before the table has shown its position nobody has moved: what is unclear then is no doubtful move.
    if state.suspicion.kind is meanings.Undecided and state.mode is not Mode.SETTING_UP:
        context = replace(context, unclear=context.unclear + 1, doubted=state.suspicion.doubted)
    return replace(state, suspicion=after_motion(state.suspicion, state.mode), context=context)


def do_nothing(state: State, _fact: Fact, _t_s: float) -> Result:
    """Announce nothing, and drop any suspicion."""
    return replace(state, suspicion=None), ()


def confirm(state: State, fact: Fact, t_s: float) -> Result:
    """The table shows the accepted position: announce that if people had been asked for something.

    Lines that may have been played on hidden squares are kept as doubted, so that the move after one of them is not
    taken for a move out of turn.
    """
    _, judgement = fact.seen
    events = (Restored(t=t_s, n=0), *_reminder(state.match, t_s)) if _awaits_people(state) else ()
    calm = _cleared(state, state.match)
    return replace(calm, context=replace(calm.context, doubted=judgement.doubted)), events


def _awaits_people(state: State) -> bool:
    """Whether people have been asked for something, or told of a table that is not the accepted one."""
    return bool(state.said or state.options or state.context.standing)


def accept(state: State, fact: Fact, t_s: float) -> Result:
    """Accept the legal moves that the table shows."""
    _, judgement = fact.seen
    assert isinstance(judgement.interpretation, meanings.Played)
    return _play(state, judgement.interpretation.moves, t_s)


def accept_answer(state: State, fact: Fact, t_s: float) -> Result:
    """Accept the move that people have chosen as an answer; "done" chooses the only option."""
    option = fact.order.option if isinstance(fact.order, orders.Answer) else 0
    assert option is not None
    moves = state.options[option]
    return _play(_with_distrusted(state, reduce(Match.play, moves, state.match)), moves, t_s)


def note_done(state: State, _fact: Fact, _t_s: float) -> Result:
    """Note that a player says that his turn is complete: then even an unchanged table may show a move."""
    return replace(state, suspicion=None, overruled=frozenset(), context=replace(state.context, is_done=True)), ()


def say_unmoved(state: State, _fact: Fact, t_s: float) -> Result:
    """Announce that the player has said that he is done, but nothing has changed."""
    return _cleared(state, state.match), (Unfinished(t=t_s, n=0, todo=UNMOVED, cells=()),)


def _play(state: State, moves: tuple[Move, ...], t_s: float) -> Result:
    """Play ``moves``, with the events of players who are skipped and of repeated positions."""
    match, events = state.match, list[Event]()
    for move in moves:
        text, player = format_move(match.game, match.position, move), match.position.to_move
        match = match.play(move)
        position = format_position(match.game, match.position)
        events.append(Accepted(t=t_s, n=0, player=player, move=text, position=position))
        events.extend(Skipped(t=t_s, n=0, player=passed) for passed in match.skipped)
        if match.repetitions > 1:
            events.append(Repeated(t=t_s, n=0, times=match.repetitions, position=position))
    return _cleared(state, match), (*events, *_reminder(match, t_s))


def _reminder(match: Match, t_s: float) -> Events:
    """The event for what the position itself requires to be done, such as a promotion; none if it requires nothing."""
    return () if match.due is None else (_unfinished(match.due, t_s),)


def _unfinished(stage: Stage, t_s: float, stacks: tuple[str, ...] = ()) -> Unfinished:
    return Unfinished(t=t_s, n=0, todo=stage.todo, cells=stage.cells, stacks=stacks, rule=stage.rule)


def say_todo(state: State, fact: Fact, t_s: float) -> Result:
    """A turn is half done: announce what is left to do, unless that was announced last."""
    _, judgement = fact.seen
    meaning = judgement.interpretation
    assert isinstance(meaning, meanings.InProgress)
    todo = meaning.stage.todo
    following = replace(_with_announced(state, judgement.changes, meaning.moves), said=todo, said_s=t_s)
    is_known = state.mode is Mode.UNFINISHED and state.said == todo
    return following, () if is_known else (_unfinished(meaning.stage, t_s, _final_stacks(state.match, meaning)),)


def _final_stacks(match: Match, meaning: meanings.InProgress) -> tuple[str, ...]:
    """What the squares of a half-done turn must hold when it is complete; empty if that is still open."""
    game, position = match.game, match.position
    tables = (game.table(game.play(position, move)) for move in meaning.moves)
    cells = [game.layout.index[name] for name in meaning.stage.cells]
    ends = {tuple(table.stacks[cell] for cell in cells) for table in tables}
    return ends.pop() if len(ends) == 1 else ()


def say_set_up(state: State, fact: Fact, t_s: float) -> Result:
    """Announce what the squares must hold before the match can go on."""
    prediction, judgement = fact.seen
    layout, wrong = prediction.match.game.layout, judgement.changes
    todo = set_up_sentence(layout, prediction.table, wrong)
    if state.said == todo or t_s - state.said_s < SET_UP_S:
        return replace(state, suspicion=None), ()
    names, table = names_of(layout, wrong), prediction.table
    cells = [layout.index[name] for name in names]
    stacks = tuple(table.stacks[cell] for cell in cells)
    levels = () if table.levels is None else tuple(table.levels[cell] for cell in cells)
    following = replace(_with_announced(state, wrong), said=todo, said_s=t_s, overruled=state.overruled)
    return following, (Unfinished(t=t_s, n=0, todo=todo, cells=names, stacks=stacks, levels=levels),)


def take_back(state: State, fact: Fact, t_s: float) -> Result:
    """Take back the moves that the table shows to be taken back, and play what was played instead."""
    _, judgement = fact.seen
    assert isinstance(judgement.interpretation, meanings.TakenBack)
    n, then = judgement.interpretation.n, judgement.interpretation.then
    match = state.match.take_back(n)
    moves = tuple(ply.move for ply in state.match.plies[-n:] if ply.move is not None)
    texts = tuple(format_moves(match, moves).split())
    position = format_position(match.game, match.position)
    event = TakenBack(t=t_s, n=0, moves=texts, position=position)
    following = replace(_cleared(state, match), ruling=None)
    if not then:
        return following, (event, *_reminder(match, t_s))
    played, events = _play(following, then, t_s)
    return played, (event, *events)


def accuse(state: State, fact: Fact, t_s: float) -> Result:
    """Announce a violation of the rules."""
    prediction, judgement = fact.seen
    assert isinstance(judgement.interpretation, meanings.Illegal)
    found, match = judgement.interpretation.diagnosis, prediction.match
    event = Illegal(
        t=t_s,
        n=0,
        player=found.player,
        attempt=None if found.move is None else format_move(match.game, match.position, found.move),
        rules=found.rules,
        reason=found.reason,
        cells=found.cells,
        seen=format_sights(match.game.layout, view_of(prediction, judgement.changes)),
        expected=format_sights(match.game.layout, prediction.sights),
    )
    return replace(_with_announced(state, judgement.changes), accused=found.player), (event,)


def withdraw(state: State, fact: Fact, t_s: float) -> Result:
    """Withdraw a refuted accusation, and accept what has been played since the last accepted position."""
    rival = fact.refuted_by
    assert rival is not None
    assert state.accused is not None
    event = Withdrawn(t=t_s, n=0, player=state.accused, cells=(name_of(state.match.game.layout, rival.place),))
    following, events = go_on(state, fact, t_s)
    return following, (event, *events)


def go_on(state: State, fact: Fact, t_s: float) -> Result:
    """Accept what has been played since a square was misread.

    The square is distrusted until it has been read as expected once.
    """
    rival = fact.refuted_by
    assert rival is not None
    context = replace(state.context, distrusted=state.context.distrusted | {rival.place})
    return _play(replace(state, context=context), rival.moves, t_s)


def accuse_again(state: State, fact: Fact, t_s: float) -> Result:
    """The table is wrong in another way than announced: announce that, unless it is a partial repair."""
    _, judgement = fact.seen
    if _is_repair(judgement.changes, state.context.standing):
        return replace(state, suspicion=None), ()
    return accuse(state, fact, t_s)


def _is_repair(changes: Changes, standing: Changes | None) -> bool:
    """Whether no square is wrong that was right when the table was last announced."""
    return {cell for cell, _ in changes} <= {cell for cell, _ in standing or ()}


def ask(state: State, fact: Fact, t_s: float) -> Result:
    """Ask people which move was played, or what has happened if no move fits; the same question only once."""
    prediction, judgement = fact.seen
    asked = _with_announced(state, judgement.changes, state.context.begun)
    before = state.context
    # If the table stays unchanged, it does not say which of the moves that leave it so was played.
    context = replace(asked.context, unclear=before.unclear + 1, doubted=judgement.doubted, is_done=before.is_done)
    following = replace(asked, context=context, options=fact.options)
    if state.mode is Mode.ASKING and state.options == fact.options:
        return following, ()
    texts = tuple(format_moves(prediction.match, moves) for moves in fact.options)
    layout, doubts = prediction.match.game.layout, judgement.odd if texts else judgement.changes
    odd = tuple((name_of(layout, place), format_sight(sight)) for place, sight in doubts)
    named = {name for name, _ in odd} | {
        layout.cells[cell] for moves in fact.options for m in moves for cell in m.cells
    }
    cells = tuple(name for name in layout.cells if name in named)
    meaning = judgement.interpretation
    one_hand = isinstance(meaning, meanings.Ambiguous | meanings.Undecided) and meaning.or_one_hand
    asked_text = question(texts, odd, or_one_hand=one_hand)
    return following, (Unsure(t=t_s, n=0, options=texts, question=asked_text, cells=cells, or_one_hand=one_hand),)


def correct(state: State, fact: Fact, t_s: float) -> Result:
    """Apply a ruling; the table must then be set up to show the resulting position."""
    match, text = state.match, None
    overruled = [state.match.position]
    if isinstance(fact.order, orders.AcceptMove):
        text = format_move(match.game, match.position, fact.order.move)
        match = match.play(fact.order.move)
    elif isinstance(fact.order, orders.TakeBackMoves):
        overruled = [ply.position for ply in match.plies[-fact.order.n :]]
        match = match.take_back(fact.order.n)
    elif isinstance(fact.order, orders.SetPosition):
        match = match.set_by_hand(fact.order.position)
    elif isinstance(fact.order, orders.RejectVerdict) or not state.options:
        # To a question without moves, "no" says that nothing has been changed.
        state = _with_distrusted(state, state.match)
    else:
        overruled = [reduce(Match.play, moves, match).position for moves in state.options]
    position_text = None if text else format_position(match.game, match.position)
    event = Corrected(t=t_s, n=0, by=fact.by, position=position_text, move=text)
    # What an earlier ruling has annulled stays so until the table has shown what counts.
    taken_away = state.overruled | {position_sights(match.game, position) for position in overruled}
    counts = {position_sights(match.game, match.position)}
    following = replace(_cleared(state, match), ruling=None, overruled=taken_away - counts)
    return following, (event, *_reminder(match, t_s))


def _with_distrusted(state: State, confirmed: Match) -> State:
    """``state`` that distrusts the squares read differently from ``confirmed``, which people have confirmed."""
    seemed = apply_changes(position_sights(state.match.game, state.match.position), state.context.standing or ())
    truth = position_sights(confirmed.game, confirmed.position)
    wrong = {place for place, sight in enumerate(seemed) if sight != truth[place]}
    return replace(state, context=replace(state.context, distrusted=state.context.distrusted | wrong))


def keep_distrusted(state: State, places: frozenset[Place]) -> State:
    """``state`` in which, of the distrusted places, only ``places`` remain distrusted."""
    return replace(state, context=replace(state.context, distrusted=state.context.distrusted & places))


def call_off(state: State, fact: Fact, t_s: float) -> Result:
    """End the match by a ruling of the arbiter."""
    assert isinstance(fact.order, orders.EndMatch)
    ruled = replace(state, ruling=Outcome(fact.order.winner, fact.order.rule))
    return say_over(ruled, fact, t_s)


def say_over(state: State, _fact: Fact, t_s: float) -> Result:
    """Announce the end of the match."""
    outcome = state.outcome
    assert outcome is not None
    position = format_position(state.match.game, state.match.position)
    return replace(_cleared(state, state.match), ruling=state.ruling), (
        GameOver(t=t_s, n=0, winner=outcome.winner, rule=outcome.rule, position=position),
    )


def _cleared(state: State, match: Match) -> State:
    """``state`` with ``match`` and nothing announced, asked or suspected."""
    context = Context(distrusted=state.context.distrusted)
    return State(state.mode, match, context, ruling=state.ruling, confirming=state.confirming)


def _with_announced(state: State, changes: Changes, begun: tuple[Move, ...] = ()) -> State:
    """``state`` with an announced table that differs from the accepted one by ``changes``."""
    calm = replace(_cleared(state, state.match), accused=state.accused)
    return replace(calm, context=replace(calm.context, standing=changes, begun=begun))


ACTIONS: Mapping[Action, Callable[[State, Fact, float], Result]] = {
    Action.NOTHING: do_nothing,
    Action.CONFIRM: confirm,
    Action.ACCEPT: accept,
    Action.SAY_TODO: say_todo,
    Action.SAY_SET_UP: say_set_up,
    Action.TAKE_BACK: take_back,
    Action.ACCUSE: accuse,
    Action.ACCUSE_AGAIN: accuse_again,
    Action.WITHDRAW: withdraw,
    Action.GO_ON: go_on,
    Action.ASK: ask,
    Action.ACCEPT_ANSWER: accept_answer,
    Action.LOOK: note_done,
    Action.SAY_UNMOVED: say_unmoved,
    Action.CORRECT: correct,
    Action.CALL_OFF: call_off,
    Action.SAY_OVER: say_over,
}
