"""What every page of the program answers alike: its files, a feed's stream and boards, refusals in one line of JSON."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from companion.web.feed import Feed
from companion.web.guard import Refused
from companion.web.view import board_row

STATIC = Path(__file__).parent / "static"


async def refused(_request: Request, error: Exception) -> Response:
    """A request that is not served."""
    assert isinstance(error, Refused)
    return error.response()


async def unserved(_request: Request, error: Exception) -> Response:
    """Unknown paths and methods, in one line like everything else."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


def stream_answer(feed: Feed, request: Request) -> Response:
    """The feed's events as a stream: after ``Last-Event-ID`` or ``?after=``, with the state where ``?with=state``."""
    after = request.headers.get("last-event-id") or request.query_params.get("after", "")
    stream = feed.stream(_number(after) or 0, with_state=request.query_params.get("with") == "state")
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


def board_answer(feed: Feed, request: Request) -> Response:
    """The board after the turn that the event ``n`` of the path brought.  Refused where no such turn stands."""
    n = _number(request.path_params["n"])
    turn = None if n is None else feed.standing.story.at(n)
    if turn is None:
        raise Refused(404, "no move that stands has this number")
    return JSONResponse(board_row(turn.position, turn.cells), headers={"cache-control": "no-store"})


def _number(text: str) -> int | None:
    """The number of an event, as browsers send it; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
