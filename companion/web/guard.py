"""Access control: hosts, origins, the arbiter's token, and the size of requests."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from companion.errors import CompanionError
from companion.referee.orders import OrderRefused
from companion.web import connections
from companion.web.address import is_loopback_address

LARGEST_BODY = 8192
"""Largest request body in bytes; a position has at most 2,000 characters."""

BODY_S = 10.0
"""Time that the body of a request may take: it fits into six packets."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Content-Security-Policy: nothing but the program's own files, and no inline scripts or styles."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}

CLOSE = {"connection": "close"}
"""Header that closes the connection: it is of no more use, and others may need its place."""


class Refused(Exception):
    """A request that is not served: HTTP status, the reason in one line, and a keyword that pages can translate."""

    def __init__(self, status: int, why: str, reason: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.reason = reason

    def response(self) -> JSONResponse:
        """The response that the browser gets."""
        headers = {401: {"www-authenticate": "Bearer"}, 408: CLOSE, 503: CLOSE}.get(self.status)
        told = {"error": self.why} | ({"reason": self.reason} if self.reason else {})
        return JSONResponse(told, self.status, headers)


class Guard:
    """ASGI middleware that serves only requests addressed to this machine, and adds security headers to responses.

    A web site whose name suddenly resolves to this machine (DNS rebinding) could otherwise see the camera.
    """

    def __init__(self, app: ASGIApp, host: str, token: str = "") -> None:
        """The guard of ``app``.

        Args:
            app: the application.
            host: the name or address that the server was told to listen on.
            token: whoever gives it, and the address from which it was given, is served even when the server is busy;
                empty: nobody is.
        """
        self._app, self._token = app, token
        self._active = 0
        self._arbiters: set[str] = set()
        name = socket.gethostname().lower()
        self._names = {"localhost", host.lower(), name, f"{name}.local"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        if scope["type"] != "http":
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        self._active += 1
        try:
            await (self._app if refusal is None else refusal.response())(scope, receive, send_safely)
        finally:
            self._active -= 1

    def _refusal(self, scope: Scope) -> Refused | None:
        """The reason why a request is not served; None if it is."""
        if not self._is_meant(Headers(scope=scope).get("host", "")):
            return Refused(421, "this server does not go by that name; use its address")
        if not self._is_arbiter(scope) and self._active >= connections.MAX_SERVED:
            return Refused(503, "too many look on; try again later")
        return None

    def _is_arbiter(self, scope: Scope) -> bool:
        """Whether the request gives the token, or comes from an address that has; loopback may be a proxy's."""
        address = scope["client"][0] if scope.get("client") else ""
        if not (self._token and has_token(Request(scope), self._token)):
            return address in self._arbiters
        if not is_loopback_address(address):
            self._arbiters.add(address)
        return True

    def _is_meant(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._names or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def refuse_foreign(request: Request) -> None:
    """Refuse (403) a request sent by a page of another origin."""
    origin = request.headers.get("origin")
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    site = request.headers.get("sec-fetch-site", "same-origin")
    if (origin is not None and origin.lower() != own.lower()) or site not in ("same-origin", "none"):
        raise Refused(403, "this was sent by a page of another origin; rulings come from the table's own page")


def has_token(request: Request, token: str) -> bool:
    """Whether a request gives the arbiter's token, as ``Authorization: Bearer`` or ``?token=``."""
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer":
        given = request.query_params.get("token", "")
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


def refuse_unknown(request: Request, token: str) -> None:
    """Refuse (401) a request without the arbiter's token."""
    if not has_token(request, token):
        raise Refused(401, "rulings need the token that the program has printed at its start")


async def read_body(request: Request) -> dict[str, Any]:
    """The JSON object in the request's body; an empty body: no fields.  Refuses what is too large or not an object."""
    data = b""
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                data += chunk
                if len(data) > LARGEST_BODY:
                    raise Refused(413, f"a request has at most {LARGEST_BODY} bytes")
    except TimeoutError:
        raise Refused(408, f"the body did not come within {BODY_S:.0f} s") from None
    except ClientDisconnect:
        raise Refused(400, "the request was broken off") from None
    if not data.strip():
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "send JSON (Content-Type: application/json)")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise Refused(400, "the body is no JSON") from None
    if not isinstance(body, dict):
        raise Refused(400, "the body must be a JSON object")
    return body


@contextmanager
def refusing() -> Iterator[None]:
    """Turn a table's refusals and timeouts into refused requests."""
    try:
        yield
    except TimeoutError:
        raise Refused(503, "the table does not answer; does its camera give pictures?") from None
    except OrderRefused as error:
        raise Refused(409, str(error)) from None
    except CompanionError as error:
        raise Refused(400, str(error)) from None
