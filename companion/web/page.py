"""The web page of one table: its routes and their server.

How to use it::

    page = Page(address, feed)                        # listens; page.notice says where
    feed.begin(start)                                 # 1. a match begins,
    page.serve(inbox.put, camera)                     # 2. takes orders, and is seen
    table.listeners.append(feed); table.state_observers.append(feed)
    ...                                               # then the next one
    page.close()
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Protocol

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from companion.errors import CompanionError
from companion.events import Event, to_json
from companion.referee.orders import Order, OrderRefused
from companion.web.actions import ACTIONS, DeferredOrder, order_of, signer
from companion.web.answers import (
    STATIC,
    board_answer,
    number,
    refused,
    sentence_answer,
    stream_answer,
    unserved,
    view_of,
)
from companion.web.archive import FORMS, Archive, matches_row
from companion.web.boards import BoardRequest, board_row, legal_moves
from companion.web.feed import Feed
from companion.web.files import Files
from companion.web.guard import Guard, Refused, read_body, refuse_foreign, refuse_unknown, refusing
from companion.web.server import Server
from companion.web.starting import (
    Choice,
    ContinueMatch,
    Starter,
    form_row,
    parse_continue_match,
    parse_new_match,
    pop_leave,
)
from companion.web.token import new_token

if TYPE_CHECKING:
    from companion.web.tls import Certificate

BEGUN_S = 60.0
"""Timeout for the start of a match; the camera is opened again for it, and adjusts its exposure."""

TAKEN_S = 5.0
"""Timeout for an order: the table takes one with every picture of its camera."""


class Send(Protocol):
    """Sends an order to the table; the future gives the events that followed, or raises why it was refused."""

    def __call__(self, order: Order | DeferredOrder, by: str) -> Future[tuple[Event, ...]]:
        """Send ``order``, given ``by`` somebody."""
        ...


class Page:
    """Serves one table's page."""

    def __init__(
        self,
        address: tuple[str, int],
        feed: Feed,
        *,
        token: str = "",
        tells_token: bool = False,
        tls: Certificate | None = None,
        starter: Starter | None = None,
        routes: Sequence[BaseRoute] = (),
        archive: Archive | None = None,
    ) -> None:
        """Listen.

        Args:
            address: host and port.
            feed: the events and state to show.
            token: the arbiter's token, kept elsewhere; if empty, one is made, and shown in the notice.
            tells_token: show a given token in the notice too.
            tls: the certificate; None: served without TLS.
            starter: starts matches; None: none can be started on the page.
            routes: further routes to serve.
            archive: the stored matches; None: there are none.

        Raises:
            CompanionError: the address cannot be used.
        """
        self.token, self._is_kept = token or new_token(), bool(token) and not tells_token
        self._feed, self._starter, self._archive = feed, starter, archive
        self._send: Send | None = None
        self._camera: Callable[[], bytes | None] = lambda: None
        self._picture_lock = asyncio.Lock()
        files = Files(STATIC, {"": "table.html", "replay": "replay.html"})
        app = Starlette(
            routes=[
                Route("/events", self._events),
                Route("/state", self._state),
                Route("/board/{n}", self._board),
                Route("/told/{n}", self._sentence),
                Route("/preview", self._preview),
                Route("/camera.jpg", self._camera_picture),
                Route("/legal", self._legal),
                Route("/arbiter", self._known),
                Route("/start", self._start),
                Route("/matches", self._matches),
                Route("/matches/{match}.{form}", self._export),
                Route("/arbiter/start", self._begin, methods=["POST"]),
                Route("/arbiter/go-on", self._go_on, methods=["POST"]),
                Route("/arbiter/{action}", self._arbiter, methods=["POST"]),
                *routes,
                *files.routes(),
            ],
            exception_handlers={Refused: refused, HTTPException: unserved},
        )
        self._tls = tls
        self.server = Server(address, Guard(app, address[0], self.token), feed.change_signal.attach, tls)

    @property
    def notice(self) -> str:
        """The page's address and the arbiter's token, for whoever starts the program; a kept token is not logged."""
        url = self.server.url
        told = "… (companion token shows it)" if self._is_kept else self.token
        proof = "" if self._tls is None else f"\ncertificate, SHA-256: {self._tls.fingerprint}"
        return f"page: {url}   for the arbiter: {url}#token={told}{proof}"

    def serve(self, send: Send, camera: Callable[[], bytes | None]) -> None:
        """Pass on orders for the present match, and show its camera picture.  May be called from any thread.

        Args:
            send: takes the orders.
            camera: returns the newest picture as JPEG, or None; called in a worker thread when somebody asks for it.
        """
        self._send, self._camera = send, camera

    def rest(self) -> None:
        """Stop taking orders: the match is no longer being played; its last picture stays."""
        self._send = None
        self._feed.rest()

    def close(self) -> None:
        """End every stream and stop serving."""
        self._feed.close()
        self.server.close()

    async def _events(self, request: Request) -> Response:
        return stream_answer(self._feed, request)

    async def _state(self, _request: Request) -> Response:
        headers = {"cache-control": "no-store"}
        return Response(self._feed.state_text(), media_type="application/json", headers=headers)

    async def _board(self, request: Request) -> Response:
        return board_answer(self._feed, request)

    async def _sentence(self, request: Request) -> Response:
        return sentence_answer(self._feed, request)

    async def _preview(self, request: Request) -> Response:
        text, kit = request.query_params.get("position", ""), self._feed.page_state.kit
        try:
            return JSONResponse(board_row(BoardRequest(text, view_of(request), kit)))
        except CompanionError as error:
            raise Refused(400, str(error)) from None

    async def _legal(self, _request: Request) -> Response:
        return JSONResponse({"legal": await run_in_threadpool(legal_moves, self._feed.page_state.history.position)})

    async def _known(self, request: Request) -> Response:
        refuse_unknown(request, self.token)
        return JSONResponse({"arbiter": True})

    async def _camera_picture(self, _request: Request) -> Response:
        async with self._picture_lock:
            data = await run_in_threadpool(self._camera)
        if data is None:
            raise Refused(404, "there is no picture yet")
        return Response(data, media_type="image/jpeg", headers={"cache-control": "no-store"})

    async def _start(self, request: Request) -> Response:
        refuse_unknown(request, self.token)
        starter = self._open_starter()
        with refusing():
            return JSONResponse(await run_in_threadpool(form_row, starter), headers={"cache-control": "no-store"})

    async def _begin(self, request: Request) -> Response:
        refuse_foreign(request)
        refuse_unknown(request, self.token)
        return await self._started(request, lambda body: parse_new_match(body, self._open_starter()))

    async def _go_on(self, request: Request) -> Response:
        refuse_foreign(request)
        refuse_unknown(request, self.token)
        return await self._started(request, lambda body: parse_continue_match(body, self._open_starter()))

    async def _matches(self, request: Request) -> Response:
        refuse_unknown(request, self.token)
        with refusing():
            row = await run_in_threadpool(matches_row, self._open_archive())
        return JSONResponse(row, headers={"cache-control": "no-store"})

    async def _export(self, request: Request) -> Response:
        refuse_unknown(request, self.token)
        match, form = number(request.path_params["match"]), request.path_params["form"]
        if match is None:
            raise Refused(404, "no kept match has this number")
        if form not in FORMS:
            raise Refused(404, f"there is no such form; there are {', '.join(FORMS)}")
        with refusing():
            data = await run_in_threadpool(self._open_archive().exported, match, form)
        headers = {"content-disposition": f'attachment; filename="match-{match}.{form}"', "cache-control": "no-store"}
        return Response(data, media_type=FORMS[form], headers=headers)

    def _open_archive(self) -> Archive:
        if self._archive is None:
            raise Refused(404, "no matches are kept behind this page")
        return self._archive

    def _open_starter(self) -> Starter:
        if self._starter is None:
            raise Refused(404, "no match can be started on this page")
        return self._starter

    async def _started(self, request: Request, read: Callable[[dict[str, Any]], Choice]) -> Response:
        starter, body = self._open_starter(), await read_body(request)
        with refusing():
            may_leave, wanted = pop_leave(body), read(body)
            if self._feed.page_state.is_open and not may_leave:
                raise OrderRefused("a match is going on; end it first, or say that it may be left unfinished")
            await asyncio.wait_for(asyncio.wrap_future(starter.put(wanted)), BEGUN_S)
        return JSONResponse({"done": "go-on" if isinstance(wanted, ContinueMatch) else "start"})

    async def _arbiter(self, request: Request) -> Response:
        refuse_foreign(request)
        refuse_unknown(request, self.token)
        action = request.path_params["action"]
        if action not in ACTIONS:
            raise Refused(404, f"there is no such action; there are {', '.join((*ACTIONS, 'start', 'go-on'))}")
        body = await read_body(request)
        with refusing():
            by, order = signer(body), order_of(action, body)
            if self._send is None:
                raise OrderRefused("no match is being played; start one")
            events = await asyncio.wait_for(asyncio.wrap_future(self._send(order, by)), TAKEN_S)
        return JSONResponse({"done": action, "events": [to_json(event) for event in events]})
