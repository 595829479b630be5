"""The page of phones used as panels: what they show, as an event stream, and what is pressed on them."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from companion.panel.buttons import Button, Press
from companion.phone.panel import PhonePanel
from companion.phone.shared import qr_code_response, report_refused
from companion.web.answers import STATIC
from companion.web.base_url import reachable_base_url
from companion.web.feed import ALIVE_S, RETRY_MS, ChangeSignal, compact
from companion.web.files import Files
from companion.web.guard import Refused, read_body, refuse_foreign, refuse_unknown

MAX_ANSWERS = 9
"""Number of answers that can be touched: as many as have a key on a terminal."""

IDLE = {"panel": "", "n": 0}
"""What is sent while no match is being played."""


@dataclass(frozen=True, slots=True)
class PanelBinding:
    """A match's panel, and the function called with what is pressed on it."""

    panel: PhonePanel
    press: Callable[[Press], None]


class PanelRoutes:
    """The routes with which a page lets phones be panels: any number that knows the code."""

    def __init__(self, code: str, token: Callable[[], str], say: Callable[[str], None] = lambda _: None) -> None:
        """``code`` admits panels; ``token`` returns the arbiter's; ``say`` is called with messages for people."""
        self.code = code
        self.change_signal = ChangeSignal()
        self.refused = 0
        self._token, self._say = token, say
        self._watched: PanelBinding | None = None
        self._is_closed = False
        self._page = Files(STATIC, {}).named("panel.html")

    def show(self, watched: PanelBinding | None) -> None:
        """Show this match's panel from now on; None: none.  From any thread."""
        self._watched = watched
        self.change_signal.notify_all()

    def close(self) -> None:
        """End every stream.  From any thread."""
        self._is_closed = True
        self.change_signal.notify_all()

    def routes(self) -> list[Route]:
        """The routes to serve."""
        return [
            Route("/panel", self._page),
            Route("/panel/code.svg", self._code),
            Route("/panel/shown", self._shown),
            Route("/panel/press", self._press, methods=["POST"]),
            Route("/panel/clip/{name}", self._clip),
        ]

    async def _code(self, request: Request) -> Response:
        """The QR code, for the arbiter only: whoever sees it may press the table's buttons."""
        refuse_unknown(request, self._token())
        return qr_code_response(panel_url(reachable_base_url(request), self.code))

    async def _shown(self, request: Request) -> Response:
        self._enter(request)
        self.change_signal.attach()
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._stream(), media_type="text/event-stream", headers=headers)

    async def _stream(self) -> AsyncIterator[bytes]:
        """What is shown, at every change: always the newest state, and no sentence twice."""
        yield b"retry: %d\n\n" % RETRY_MS
        told: Mapping[str, Any] = {"panel": None, "n": 0}
        while not self._is_closed:
            news, watched = self.change_signal.next(), self._watched
            row = IDLE if watched is None else watched.panel.row(told["n"])
            if watched is not None and row["panel"] != told["panel"]:
                row = watched.panel.row()
            if row != told:
                told = row
                yield b"data: %s\n\n" % compact(row).encode()
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), ALIVE_S)
                continue
            yield b": alive\n\n"

    async def _press(self, request: Request) -> Response:
        refuse_foreign(request)
        self._enter(request)
        press = press_of(await read_body(request))
        if self._watched is None:
            raise Refused(409, "no match is being played; start one", "idle")
        self._watched.press(press)
        return JSONResponse({})

    async def _clip(self, request: Request) -> Response:
        self._enter(request)
        watched = self._watched
        data = None if watched is None else await run_in_threadpool(watched.panel.clip, request.path_params["name"])
        if data is None:
            raise Refused(404, "nothing that was just said has such a sound")
        return Response(data, media_type="audio/wav", headers={"cache-control": "max-age=3600"})

    def _enter(self, request: Request) -> None:
        """Refuse (403) a request without the code."""
        if not hmac.compare_digest(request.query_params.get("code", "").encode(), self.code.encode()):
            self.refused += 1
            report_refused(self._say, "panel", self.refused)
            raise Refused(403, "this code is not right: scan the one that the program shows now", "code")


def press_of(body: dict[str, Any]) -> Press:
    """What was pressed.  Raises Refused (400) if it is not a button of a panel."""
    number, is_held = body.get("number", 0), body.get("held", False)
    try:
        button = Button(body.get("button"))
    except ValueError:
        raise Refused(400, f"button: write one of {', '.join(button.value for button in Button)}") from None
    if not isinstance(is_held, bool):
        raise Refused(400, "held: write true or false")
    if type(number) is not int or not 0 <= number <= MAX_ANSWERS:
        raise Refused(400, f"number: write one from 0 to {MAX_ANSWERS}")
    return Press(button, is_held, number)


def panel_url(base: str, code: str) -> str:
    """The URL in the QR code of a panel; browsers do not send what follows the #."""
    return f"{base.rstrip('/')}/panel#code={code}"
