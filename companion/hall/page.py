"""The web page of a hall: an overview of all tables, and a read-only page for each."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import quote

import segno
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from companion.hall.hub import Hub, Seat
from companion.hall.results import results_csv, results_row
from companion.hall.rounds import rows
from companion.hall.tournament import Tournament, arranged, rounds_row
from companion.web.answers import STATIC, board_answer, number, refused, sentence_answer, stream_answer, unserved
from companion.web.base_url import reachable_base_url
from companion.web.feed import ALIVE_S, RETRY_MS, compact
from companion.web.files import Files
from companion.web.guard import Guard, Refused, read_body, refuse_foreign, refuse_unknown, refusing
from companion.web.server import Server
from companion.web.token import new_token
from companion.web.view import state_row


class HallPage:
    """Serves one hall's page."""

    def __init__(self, address: tuple[str, int], hub: Hub, tournament: Tournament) -> None:
        """Listen.  Raises CompanionError when the address cannot be used."""
        self._hub, self._tournament = hub, tournament
        self.token = new_token()
        self._is_closed = False
        files = Files(STATIC, {"": "hall.html"})
        app = Starlette(
            routes=[
                Route("/tables", self._tables),
                Route("/results", self._results),
                Route("/results.csv", self._sheet),
                Route("/arbiter", self._known),
                Route("/rounds", self._rounds),
                Route("/rounds/{place}", self._arrange, methods=["POST"]),
                Route("/table/{table}/qr.svg", self._code),
                Route("/table/{table}/events", self._events),
                Route("/table/{table}/state", self._state),
                Route("/table/{table}/board/{n}", self._board),
                Route("/table/{table}/told/{n}", self._sentence),
                Route("/table/{table}/", files.named("table.html")),
                *files.routes(),
            ],
            exception_handlers={Refused: refused, HTTPException: unserved},
        )
        self.server = Server(address, Guard(app, address[0], self.token), hub.change_signal.attach)

    @property
    def notice(self) -> str:
        """The page's address, and the token for whoever arranges rounds."""
        url = self.server.url
        return f"hall: {url}   for the arbiter: {url}#token={self.token}"

    def close(self) -> None:
        """End every stream and stop serving."""
        self._is_closed = True
        for seat in self._hub.seats.values():
            seat.playing.feed.close()
        self._hub.change_signal.notify_all()
        self.server.close()

    async def _tables(self, _request: Request) -> Response:
        headers = {"cache-control": "no-store"}
        return StreamingResponse(self._news(), media_type="text/event-stream", headers=headers)

    async def _news(self) -> AsyncIterator[bytes]:
        """Event stream with every table, and again each one that changes."""
        shown: dict[str, tuple[object, ...]] = {}
        edition = self._tournament.edition
        yield b"retry: %d\n\n" % RETRY_MS
        while not self._is_closed:
            news, block = self._hub.change_signal.next(), b""
            for name, seat in sorted(self._hub.seats.items()):
                page_state = seat.playing.feed.page_state
                showing = (seat.is_online, seat.fault, page_state.match, page_state.n)
                if shown.get(name) != showing:
                    shown[name] = showing
                    block += b"event: table\ndata: %s\n\n" % compact(table_row(seat)).encode()
            if edition != self._tournament.edition:
                edition = self._tournament.edition
                block += b"event: rounds\ndata: {}\n\n"
            if block:
                yield block
            try:
                await asyncio.wait_for(news.wait(), ALIVE_S)
            except TimeoutError:
                yield b": alive\n\n"

    async def _results(self, _request: Request) -> Response:
        return JSONResponse(
            results_row(self._tournament.rounds, self._hub.finished()), headers={"cache-control": "no-store"}
        )

    async def _sheet(self, _request: Request) -> Response:
        text = results_csv(rows(self._tournament.rounds, self._hub.finished()))
        headers = {"content-disposition": 'attachment; filename="results.csv"', "cache-control": "no-store"}
        return Response(text, media_type="text/csv", headers=headers)

    async def _known(self, request: Request) -> Response:
        refuse_unknown(request, self.token)
        return JSONResponse({"arbiter": True})

    async def _rounds(self, _request: Request) -> Response:
        return JSONResponse(rounds_row(self._tournament), headers={"cache-control": "no-store"})

    async def _arrange(self, request: Request) -> Response:
        refuse_foreign(request)
        refuse_unknown(request, self.token)
        place, body = number(request.path_params["place"]), await read_body(request)
        if place is None:
            raise Refused(404, "no round has this number")
        with refusing():
            await run_in_threadpool(self._tournament.arrange, place, arranged(body))
        self._hub.change_signal.notify_all()
        return JSONResponse(rounds_row(self._tournament))

    async def _code(self, request: Request) -> Response:
        """The address of a table's page as a QR code."""
        address = reachable_base_url(request) + f"table/{quote(self._seat(request).name)}/"
        picture = io.BytesIO()
        segno.make(address, error="m").save(picture, "svg", border=2, xmldecl=False, dark="#231f18", light="#ffffff")
        return Response(picture.getvalue(), media_type="image/svg+xml")

    def _seat(self, request: Request) -> Seat:
        seat = self._hub.seats.get(request.path_params["table"])
        if seat is None:
            raise Refused(404, "there is no such table")
        return seat

    async def _events(self, request: Request) -> Response:
        return stream_answer(self._seat(request).playing.feed, request)

    async def _state(self, request: Request) -> Response:
        feed = self._seat(request).playing.feed
        return Response(feed.state_text(), media_type="application/json", headers={"cache-control": "no-store"})

    async def _board(self, request: Request) -> Response:
        return board_answer(self._seat(request).playing.feed, request)

    async def _sentence(self, request: Request) -> Response:
        return sentence_answer(self._seat(request).playing.feed, request)


def table_row(seat: Seat) -> Mapping[str, Any]:
    """The summary of one table, as JSON."""
    page_state = seat.playing.feed.page_state
    state = state_row(page_state)
    turns = state["turns"]
    return {
        "table": seat.name,
        "online": seat.is_online,
        "fault": seat.fault,
        "match": page_state.match,
        "game": state["game"],
        "board": turns[-1]["n"] if turns else state["start_n"],
        "turns": len(turns),
        **{key: state[key] for key in ("n", "to_move", "outcome", "wrong", "drawn", "clock", "t", "view")},
        "said": state["log"][-1] if state["log"] else None,
    }
