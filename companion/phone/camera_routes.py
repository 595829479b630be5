"""The phone as a camera: its page, and the routes to which that sends its pictures.

Pictures come as requests over one connection that stays open: the response to one asks for the next, so that at most
one is in transit.  Safari opens no WebSocket to a page with a self-signed certificate, but it sends requests.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from companion.phone.access import AccessDenied, PhoneAccess
from companion.phone.shared import qr_code_response, report_refused
from companion.web.answers import STATIC, number
from companion.web.base_url import reachable_base_url
from companion.web.files import Files
from companion.web.guard import Refused, refuse_foreign, refuse_unknown
from vision.capture.phone import LARGEST, PhoneCamera

LARGEST_PICTURE = 2_000_000
"""Largest picture in bytes; a JPEG picture of 1920 x 1080 px at quality 85 has a quarter of it."""

PICTURE_S = 5.0
"""Time that the transfer of a picture may take; after that it is of no use."""

MILLISECONDS = 1 << 32
"""Value at which the phone's clock wraps, as a controller's does."""


class PhoneCameraRoutes:
    """The routes with which a page lets phones be its cameras."""

    def __init__(
        self,
        accesses: Sequence[PhoneAccess],
        token: Callable[[], str],
        say: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        panel_code: str = "",
        note: Callable[[], Mapping[str, int]] = dict,
    ) -> None:
        """Admit phones at ``accesses``.

        Args:
            accesses: one for each camera.
            token: returns the arbiter's token.
            say: called with messages for people.
            clock: seconds, the same clock as that of the pictures' readers.
            panel_code: the code with which the same phones can be panels; empty: they cannot.
            note: returns what whoever holds a phone should know, sent with the response to each picture.
        """
        self._accesses, self._token, self._say, self._clock = tuple(accesses), token, say, clock
        self._panel_code, self._note = panel_code, note
        self._cameras: tuple[PhoneCamera, ...] = ()
        self._page = Files(STATIC, {}).named("eye.html")

    def look(self, cameras: Sequence[PhoneCamera]) -> None:
        """Pass pictures to these cameras from now on, one for each door; none: to nobody.  From any thread."""
        self._cameras = tuple(cameras)

    def routes(self) -> list[Route]:
        """The routes to serve."""
        return [
            Route("/eye", self._shown),
            Route("/eye/{n}/code.svg", self._code),
            Route("/eye/{n}/let-go", self._let_go, methods=["POST"]),
            Route("/eye/{n}/hello", self._hello, methods=["POST"]),
            Route("/eye/{n}/clock", self._compare, methods=["POST"]),
            Route("/eye/{n}/picture", self._picture, methods=["POST"]),
        ]

    async def _shown(self, request: Request) -> Response:
        response = await self._page(request)
        response.headers["permissions-policy"] = "camera=(self), microphone=(), geolocation=()"
        return response

    async def _code(self, request: Request) -> Response:
        """The QR code, for the arbiter only: whoever sees it may become the table's camera."""
        refuse_unknown(request, self._token())
        n = self._number(request)
        return qr_code_response(camera_url(reachable_base_url(request), n, self._accesses[n - 1].code))

    async def _let_go(self, request: Request) -> Response:
        """Admit another phone, at the arbiter's request."""
        refuse_foreign(request)
        refuse_unknown(request, self._token())
        n = self._number(request)
        self._accesses[n - 1].let_go()
        self._say(f"phone {n}: another one may come")
        return JSONResponse({})

    async def _hello(self, request: Request) -> Response:
        self._enter(request)
        remarks = request.query_params.get("remarks", "")[:200]
        if remarks and remarks.isprintable():
            self._say(f"phone {self._number(request)}: {remarks}")
        size = self._camera(request).size
        width, height = size or LARGEST
        wanted = {"width": width, "height": height, "largest": size is None}
        return JSONResponse({**wanted, "panel": self._panel_code})

    async def _compare(self, request: Request) -> Response:
        now_s = self._clock()
        access = self._enter(request)
        heard = request.query_params.get("heard", "")
        access.compare(_milliseconds(heard) if heard else None, now_s)
        return JSONResponse({})

    async def _picture(self, request: Request) -> Response:
        now_s = self._clock()
        access, camera = self._enter(request), self._camera(request)
        taken_s = access.taken_s(_milliseconds(request.query_params.get("taken", "")), now_s)
        try:
            await _taken_in(request, camera, taken_s)
        except Refused:
            access.refused += 1
            self._report_refused(request, access)
            raise
        return JSONResponse(dict(self._note()))

    def _enter(self, request: Request) -> PhoneAccess:
        """The door of this message.  Raises Refused if the phone is not admitted."""
        refuse_foreign(request)
        n, given = self._number(request), request.query_params
        access = self._accesses[n - 1]
        is_new = not access.phone
        try:
            access.enter(given.get("code", "")[:64], given.get("phone", "")[:64], given.get("page", "")[:64])
        except AccessDenied as error:
            self._report_refused(request, access)
            raise Refused(403, str(error), error.reason) from None
        if is_new:
            self._say(f"phone {n}: is here")
        return access

    def _number(self, request: Request) -> int:
        n = number(request.path_params["n"])
        if n is None or not 0 < n <= len(self._accesses):
            raise Refused(404, "this table has no such camera")
        return n

    def _camera(self, request: Request) -> PhoneCamera:
        """The camera of this request.  Raises Refused (503, to be tried again) while no match is refereed."""
        cameras, n = self._cameras, self._number(request)
        if n > len(cameras):
            raise Refused(503, "no match is refereed now", "idle")
        return cameras[n - 1]

    def _report_refused(self, request: Request, access: PhoneAccess) -> None:
        report_refused(self._say, f"phone {self._number(request)}", access.refused)


def camera_url(base: str, number: int, code: str) -> str:
    """The URL in the QR code of phone ``number``; browsers do not send what follows the #."""
    return f"{base.rstrip('/')}/eye#n={number}&code={code}"


def _milliseconds(text: str) -> int:
    """A time of the phone's clock.  Raises Refused if it is not a number."""
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise Refused(400, "a time is a whole number of milliseconds")
    return int(text) % MILLISECONDS


async def _taken_in(request: Request, camera: PhoneCamera, taken_s: float) -> None:
    """Pass the request's picture to its camera.  Raises Refused if it is not a suitable picture."""
    if not await run_in_threadpool(camera.post, await _body(request), taken_s):
        wanted = "at most {} x {} px".format(*LARGEST) if camera.size is None else "{} x {} px".format(*camera.size)
        raise Refused(415, f"this is no JPEG picture of {wanted}", "picture")


async def _body(request: Request) -> bytes:
    """The body of a request.  Raises Refused if it is too large or too slow."""
    parts, size = list[bytes](), 0
    try:
        async with asyncio.timeout(PICTURE_S):
            async for chunk in request.stream():
                size += len(chunk)
                if size > LARGEST_PICTURE:
                    raise Refused(413, f"a picture has at most {LARGEST_PICTURE} bytes", "picture")
                parts.append(chunk)
    except TimeoutError:
        raise Refused(408, f"the picture did not come within {PICTURE_S:.0f} s") from None
    except ClientDisconnect:
        raise Refused(400, "the request was broken off") from None
    return b"".join(parts)
