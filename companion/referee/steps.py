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
from companion.referee.patience import SET_UP_S, interrupted
from companion.referee.phrases import UNMOVED, question, set_up_sentence
from companion.referee.state import Fact, State
from companion.referee.states import Action, Mode, Trigger, table
from companion.rules.game import Move, Outcome, Stage
from companion.rules.notation import format_move, format_position
from companion.tracker import interpret as meanings
from companion.tracker.diagnose import view_of
from companion.tracker.scoring import Context
from companion.tracker.sights import Changes, Place, altered, format_sight, format_sights, name_of, names_of, seen_at

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


def disturbed(state: State) -> State:
    """``state`` when the calm ends: its doubts are over, and what was not understood will not be seen again."""
    if state.suspicion is None:
        return state
    context = state.context
    # Before the table has shown its position nobody has moved: what is unclear then is no doubtful move.
    if state.suspicion.kind is meanings.CannotTell and state.mode is not Mode.SETTING_UP:
        context = replace(context, unclear=context.unclear + 1, doubted=state.suspicion.doubted)
    return replace(state, suspicion=interrupted(state.suspicion, state.mode), context=context)


def nothing(state: State, _fact: Fact, _t_s: float) -> Result:
    """Nobody is told anything."""
    return replace(state, suspicion=None), ()


def confirm(state: State, fact: Fact, t_s: float) -> Result:
    """The table shows the position (again), which is announced if people had been asked for something.

    A move between hidden squares is kept in mind: the next one would otherwise be taken for one out of turn.
    """
    _, judgement = fact.seen
    events = (Restored(t=t_s, n=0), *_reminder(state.match, t_s)) if _awaits_people(state) else ()
    calm = _calm(state, state.match)
    return replace(calm, context=replace(calm.context, doubted=judgement.doubted)), events


def _awaits_people(state: State) -> bool:
    return bool(state.said or state.options or state.context.standing)


def accept(state: State, fact: Fact, t_s: float) -> Result:
    """One legal move, or several, lie on the table."""
    _, judgement = fact.seen
    assert isinstance(judgement.interpretation, meanings.Played)
    return _play(state, judgement.interpretation.moves, t_s)


def accept_answer(state: State, fact: Fact, t_s: float) -> Result:
    """People have said which move it was; saying "done" means yes to the only one."""
    option = fact.order.option if isinstance(fact.order, orders.Answer) else 0
    assert option is not None
    moves = state.options[option]
    return _play(_distrusting(state, reduce(Match.play, moves, state.match)), moves, t_s)


def look(state: State, _fact: Fact, _t_s: float) -> Result:
    """The player says that his turn is complete: even an unchanged table may show a move."""
    return replace(state, suspicion=None, overruled=frozenset(), context=replace(state.context, is_done=True)), ()


def say_unmoved(state: State, _fact: Fact, t_s: float) -> Result:
    """The player says that he is done, and nothing has changed."""
    return _calm(state, state.match), (Unfinished(t=t_s, n=0, todo=UNMOVED, cells=()),)


def _play(state: State, moves: tuple[Move, ...], t_s: float) -> Result:
    match, events = state.match, list[Event]()
    for move in moves:
        text, player = format_move(match.game, match.position, move), match.position.to_move
        match = match.play(move)
        position = format_position(match.game, match.position)
        events.append(Accepted(t=t_s, n=0, player=player, move=text, position=position))
        events.extend(Skipped(t=t_s, n=0, player=passed) for passed in match.skipped)
        if match.repetitions > 1:
            events.append(Repeated(t=t_s, n=0, times=match.repetitions, position=position))
    return _calm(state, match), (*events, *_reminder(match, t_s))


def _reminder(match: Match, t_s: float) -> Events:
    """What the position itself leaves to be done, such as a promotion."""
    return () if match.due is None else (_unfinished(match.due, t_s),)


def _unfinished(stage: Stage, t_s: float, stacks: tuple[str, ...] = ()) -> Unfinished:
    return Unfinished(t=t_s, n=0, todo=stage.todo, cells=stage.cells, stacks=stacks, rule=stage.rule)


def say_todo(state: State, fact: Fact, t_s: float) -> Result:
    """A turn is half done: announce what is left to do, once for each thing left."""
    _, judgement = fact.seen
    meaning = judgement.interpretation
    assert isinstance(meaning, meanings.InProgress)
    todo = meaning.stage.todo
    following = replace(_standing(state, judgement.changes, meaning.moves), said=todo, said_s=t_s)
    is_known = state.mode is Mode.UNFINISHED and state.said == todo
    return following, () if is_known else (_unfinished(meaning.stage, t_s, _in_the_end(state.match, meaning)),)


def _in_the_end(match: Match, meaning: meanings.InProgress) -> tuple[str, ...]:
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
    following = replace(_standing(state, wrong), said=todo, said_s=t_s, overruled=state.overruled)
    return following, (Unfinished(t=t_s, n=0, todo=todo, cells=names, stacks=stacks, levels=levels),)


def take_back(state: State, fact: Fact, t_s: float) -> Result:
    """The table shows an earlier position of the match."""
    _, judgement = fact.seen
    assert isinstance(judgement.interpretation, meanings.TakenBack)
    n, then = judgement.interpretation.n, judgement.interpretation.then
    match = state.match.take_back(n)
    moves = tuple(ply.move for ply in state.match.plies[-n:] if ply.move is not None)
    texts = tuple(format_moves(match, moves).split())
    position = format_position(match.game, match.position)
    event = TakenBack(t=t_s, n=0, moves=texts, position=position)
    following = replace(_calm(state, match), ruling=None)
    if not then:
        return following, (event, *_reminder(match, t_s))
    played, events = _play(following, then, t_s)
    return played, (event, *events)


def accuse(state: State, fact: Fact, t_s: float) -> Result:
    """Something against the rules lies on the table."""
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
    return replace(_standing(state, judgement.changes), accused=found.player), (event,)


def withdraw(state: State, fact: Fact, t_s: float) -> Result:
    """An accusation was false: it is taken back, and what was played since the last accepted position is accepted."""
    rival = fact.refuted_by
    assert rival is not None
    assert state.accused is not None
    event = Withdrawn(t=t_s, n=0, player=state.accused, cells=(name_of(state.match.game.layout, rival.place),))
    following, events = go_on(state, fact, t_s)
    return following, (event, *events)


def go_on(state: State, fact: Fact, t_s: float) -> Result:
    """A square was misread, and the match has gone on: what was played since is accepted.

    The square is not trusted until it has looked right once.
    """
    rival = fact.refuted_by
    assert rival is not None
    context = replace(state.context, distrusted=state.context.distrusted | {rival.place})
    return _play(replace(state, context=context), rival.moves, t_s)


def accuse_again(state: State, fact: Fact, t_s: float) -> Result:
    """A different wrong table from the one reported: a repair on its way is nothing new, a further act is."""
    _, judgement = fact.seen
    if _is_repair(judgement.changes, state.context.standing):
        return replace(state, suspicion=None), ()
    return accuse(state, fact, t_s)


def _is_repair(changes: Changes, standing: Changes | None) -> bool:
    """Whether no square is wrong that was right when the table was last announced."""
    return {cell for cell, _ in changes} <= {cell for cell, _ in standing or ()}


def ask(state: State, fact: Fact, t_s: float) -> Result:
    """Several moves fit, or none does and something is amiss; the same options are asked about only once."""
    prediction, judgement = fact.seen
    asked = _standing(state, judgement.changes, state.context.begun)
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
    one_hand = isinstance(meaning, meanings.Ambiguous | meanings.CannotTell) and meaning.or_one_hand
    asked_text = question(texts, odd, or_one_hand=one_hand)
    return following, (Unsure(t=t_s, n=0, options=texts, question=asked_text, cells=cells, or_one_hand=one_hand),)


def correct(state: State, fact: Fact, t_s: float) -> Result:
    """A ruling; the table must then come to show the position that results."""
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
        state = _distrusting(state, state.match)
    else:
        overruled = [reduce(Match.play, moves, match).position for moves in state.options]
    position_text = None if text else format_position(match.game, match.position)
    event = Corrected(t=t_s, n=0, by=fact.by, position=position_text, move=text)
    # What an earlier ruling has annulled stays so until the table has shown what counts.
    taken_away = state.overruled | {seen_at(match.game, position) for position in overruled}
    counts = {seen_at(match.game, match.position)}
    following = replace(_calm(state, match), ruling=None, overruled=taken_away - counts)
    return following, (event, *_reminder(match, t_s))


def _distrusting(state: State, told: Match) -> State:
    """``state`` that distrusts the squares that seemed different from ``told``, which people have confirmed."""
    seemed = altered(seen_at(state.match.game, state.match.position), state.context.standing or ())
    truth = seen_at(told.game, told.position)
    wrong = {place for place, sight in enumerate(seemed) if sight != truth[place]}
    return replace(state, context=replace(state.context, distrusted=state.context.distrusted | wrong))


def trusting_again(state: State, places: frozenset[Place]) -> State:
    """``state`` in which, of the distrusted places, only ``places`` remain distrusted."""
    return replace(state, context=replace(state.context, distrusted=state.context.distrusted & places))


def call_off(state: State, fact: Fact, t_s: float) -> Result:
    """The arbiter ends the match."""
    assert isinstance(fact.order, orders.EndMatch)
    ruled = replace(state, ruling=Outcome(fact.order.winner, fact.order.rule))
    return say_over(ruled, fact, t_s)


def say_over(state: State, _fact: Fact, t_s: float) -> Result:
    """The match is over."""
    outcome = state.outcome
    assert outcome is not None
    position = format_position(state.match.game, state.match.position)
    return replace(_calm(state, state.match), ruling=state.ruling), (
        GameOver(t=t_s, n=0, winner=outcome.winner, rule=outcome.rule, position=position),
    )


def _calm(state: State, match: Match) -> State:
    """``state`` with ``match`` and nothing announced, asked or suspected."""
    context = Context(distrusted=state.context.distrusted)
    return State(state.mode, match, context, ruling=state.ruling, confirming=state.confirming)


def _standing(state: State, changes: Changes, begun: tuple[Move, ...] = ()) -> State:
    """``state`` with an announced table that differs from the accepted one by ``changes``."""
    calm = replace(_calm(state, state.match), accused=state.accused)
    return replace(calm, context=replace(calm.context, standing=changes, begun=begun))


ACTIONS: Mapping[Action, Callable[[State, Fact, float], Result]] = {
    Action.NOTHING: nothing,
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
    Action.LOOK: look,
    Action.SAY_UNMOVED: say_unmoved,
    Action.CORRECT: correct,
    Action.CALL_OFF: call_off,
    Action.SAY_OVER: say_over,
}
