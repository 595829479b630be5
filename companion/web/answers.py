"""Responses that all pages share: a feed's event stream and boards, and refusals as one line of JSON."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from companion.events import Illegal, Unfinished, Unsure
from companion.web.boards import VIEWS, Wanted, board_body, option_row
from companion.web.feed import Feed
from companion.web.guard import Refused
from companion.web.story import Story, told

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
    turn = None if n is None else feed.standing.story.at(n)
    if turn is None:
        raise Refused(404, "no move that stands has this number")
    return _sent(board_body(Wanted(turn.position, view_of(request), feed.standing.kit, turn.cells)))


def told_answer(feed: Feed, request: Request) -> Response:
    """The board with what event ``n`` of the path says about it.

    This is what is wrong and how to put it right, what is left to do, or with ``?option=`` the result of one of the
    moves asked about.  Raises Refused if the event says nothing that can be drawn.
    """
    n, events, kit = number(request.path_params["n"]), feed.standing.events, feed.standing.kit
    event = next((event for event in reversed(events) if event.n == n), None)
    if not isinstance(event, Illegal | Unfinished | Unsure):
        raise Refused(404, "no event with this number says something of the board")
    text = _position_before(feed, event.n)
    if not isinstance(event, Unsure):
        return _sent(board_body(Wanted(text, view_of(request), kit, event=event)))
    option = request.query_params.get("option", "")
    if option not in event.options:
        raise Refused(404, "this move is not asked about")
    row = option_row(event, option, Wanted(text, view_of(request), kit))
    return JSONResponse(row, headers={"cache-control": "no-store"})


def view_of(request: Request) -> str:
    """The view of a board that a request asks for.  Raises Refused if there is no such view."""
    view = request.query_params.get("view", "oblique")
    if view not in VIEWS:
        raise Refused(400, f"there is no such view; write one of {', '.join(VIEWS)}")
    return view


def _position_before(feed: Feed, n: int) -> str:
    """The text of the accepted position at the time of event ``n``."""
    standing = feed.standing
    if all(turn.n < n for turn in standing.story.turns):
        return standing.story.position
    story = Story(standing.story.start, standing.story.start_n)
    for event in standing.events:
        if event.n < n:
            story = told(story, event)
    return story.position


def _sent(body: bytes) -> Response:
    return Response(body, media_type="application/json", headers={"cache-control": "no-store"})


def number(text: str) -> int | None:
    """The number in a request, at most nine digits; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
