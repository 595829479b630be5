"""Responses that all pages share: a feed's event stream and boards, and refusals as one line of JSON."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from companion.events import Illegal, Unfinished, Unsure
from companion.web.boards import VIEWS, BoardRequest, board_body, option_row
from companion.web.feed import Feed
from companion.web.guard import Refused
from companion.web.move_history import MoveHistory, apply_event

STATIC = Path(__file__).parent / "static"


async def refused(_request: Request, error: Exception) -> Response:
    """The response to a request that is not served."""
    assert isinstance(error, Refused)
    return error.response()


async def unserved(_request: Request, error: Exception) -> Response:
    """The response for unknown paths and methods, as one line of JSON like other refusals."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


def stream_answer(feed: Feed, request: Request) -> Response:
    """The feed's events as a stream: after ``Last-Event-ID`` or ``?after=``, with the state if ``?with=state``."""
    after = request.headers.get("last-event-id") or request.query_params.get("after", "")
    stream = feed.stream(number(after) or 0, with_state=request.query_params.get("with") == "state")
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


def board_answer(feed: Feed, request: Request) -> Response:
    """The board after the turn made by event ``n`` of the path.  Raises Refused if no such turn stands."""
    n = number(request.path_params["n"])
    turn = None if n is None else feed.page_state.history.at(n)
    if turn is None:
        raise Refused(404, "no move that stands has this number")
    return _sent(board_body(BoardRequest(turn.position, view_of(request), feed.page_state.kit, turn.cells)))


def sentence_answer(feed: Feed, request: Request) -> Response:
    """The board with what event ``n`` of the path says about it.

    This is what is wrong and how to put it right, what is left to do, or with ``?option=`` the result of one of the
    moves asked about.  Raises Refused if the event says nothing that can be drawn.
    """
    n, events, kit = number(request.path_params["n"]), feed.page_state.events, feed.page_state.kit
    event = next((event for event in reversed(events) if event.n == n), None)
    if not isinstance(event, Illegal | Unfinished | Unsure):
        raise Refused(404, "no event with this number says something of the board")
    text = _position_before(feed, event.n)
    if not isinstance(event, Unsure):
        return _sent(board_body(BoardRequest(text, view_of(request), kit, event=event)))
    option = request.query_params.get("option", "")
    if option not in event.options:
        raise Refused(404, "this move is not asked about")
    row = option_row(event, option, BoardRequest(text, view_of(request), kit))
    return JSONResponse(row, headers={"cache-control": "no-store"})


def view_of(request: Request) -> str:
    """The view of a board that a request asks for.  Raises Refused if there is no such view."""
    view = request.query_params.get("view", "oblique")
    if view not in VIEWS:
        raise Refused(400, f"there is no such view; write one of {', '.join(VIEWS)}")
    return view


def _position_before(feed: Feed, n: int) -> str:
    """The text of the accepted position at the time of event ``n``."""
    page_state = feed.page_state
    if all(turn.n < n for turn in page_state.history.turns):
        return page_state.history.position
    history = MoveHistory(page_state.history.start, page_state.history.start_n)
    for event in page_state.events:
        if event.n < n:
            history = apply_event(history, event)
    return history.position


def _sent(body: bytes) -> Response:
    return Response(body, media_type="application/json", headers={"cache-control": "no-store"})


def number(text: str) -> int | None:
    """The number in a request, at most nine digits; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
