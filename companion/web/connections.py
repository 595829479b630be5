"""Limits for slow connections: deadlines, and which connection is dropped when there are too many.

uvicorn limits the number of connections, but not how long one may take over its first line: a thousand silent ones
would lock everybody out.  asyncio reports a connection to uvicorn only after the TLS handshake, so that those who never
complete it would not be counted: here the handshake is done afterwards.
"""

from __future__ import annotations

import asyncio
import resource
import ssl
from contextlib import suppress

from uvicorn.protocols.http.h11_impl import H11Protocol

from companion.web.address import is_loopback_address

HEADER_S = 10.0
"""Time that a browser may take over the header of a request; on a bad radio network it takes a second or two."""

MAX_SERVED = 1000
"""Requests served at the same time, spectators' streams included; beyond that, the server is busy (503)."""

RESERVED = 32
"""Additional connections for whoever gives the arbiter's token, who is served even when the server is busy."""

MAX_WAITING = 40
"""Connections of one address whose request has not come yet.  A browser opens six at a time; a hall's phones may share
one address, and so does everybody behind a reverse proxy."""

MAX_PER_ADDRESS = 300
"""Connections of one address; there is no such limit for the loopback address, since a reverse proxy may use it."""

OTHER_FILES = 200
"""Files and sockets that the rest of the program may have open."""


class Connection(H11Protocol):
    """uvicorn's HTTP/1.1 connection with a deadline.

    Attributes:
        tls: the TLS context; None: no TLS.
        waiting_since_s: when the server began to wait for it, by the loop's clock.
    """

    tls: ssl.SSLContext | None = None
    waiting_since_s = 0.0
    _deadline: asyncio.TimerHandle | None = None
    _agreeing: asyncio.Task[None] | None = None
    _early = b""

    @property
    def address(self) -> str:
        """The browser's address."""
        return self.client[0] if self.client else ""

    @property
    def is_waiting(self) -> bool:
        """Whether the header of a request is still to come."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A browser connects; if there are too many connections, the one that has been waiting longest is dropped."""
        super().connection_made(transport)
        self._watch()
        everybody = [each for each in self.connections if isinstance(each, Connection) and each is not self]
        neighbours = [each for each in everybody if each.address == self.address]
        if len(neighbours) >= MAX_PER_ADDRESS and not is_loopback_address(self.address):
            transport.abort()
        elif sum(each.is_waiting for each in neighbours) >= MAX_WAITING:
            _drop_longest(neighbours)
        elif len(everybody) >= MAX_SERVED + RESERVED and not _drop_longest(everybody):
            transport.abort()
        if self.tls is not None and not transport.is_closing():
            transport.pause_reading()
            self._agreeing = self.loop.create_task(self._agree(transport, self.tls))

    async def _agree(self, plain: asyncio.Transport, tls: ssl.SSLContext) -> None:
        """Do the TLS handshake; drop the connection if it fails or takes too long."""
        try:
            secured = await self.loop.start_tls(plain, self, tls, server_side=True, ssl_handshake_timeout=HEADER_S)
        except OSError as error:
            self.connection_lost(error)
            return
        if secured is None:  # The browser disconnected at just that moment.
            return
        super().connection_made(secured)
        self._agreeing = None
        if self._early:
            self.data_received(self._early)

    def data_received(self, data: bytes) -> None:
        """Take some bytes of a request."""
        if self._agreeing is not None:  # They came in one packet with the end of the handshake.
            self._early += data
            return
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """The browser has disconnected."""
        self._rest()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Start the deadline, :data:`HEADER_S`, if a header is awaited and none runs yet; else end it."""
        if not self.is_waiting:
            self._rest()
        elif self._deadline is None:
            self.waiting_since_s = self.loop.time()
            self._deadline = self.loop.call_later(HEADER_S, self._give_up)

    def _rest(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.is_waiting:
            self.transport.abort()


def connection_class(tls: ssl.SSLContext | None) -> type[Connection]:
    """The class of connections that use the TLS context ``tls``; None: no TLS."""
    return type("Connection", (Connection,), {"tls": tls})


def _drop_longest(connections: list[Connection]) -> bool:
    """Drop the connection that has been waiting longest; return whether there was one."""
    waiting = (each for each in connections if each.is_waiting)
    longest = min(waiting, key=lambda each: each.waiting_since_s, default=None)
    if longest is not None:
        longest.transport.abort()
    return longest is not None


def allow_connections() -> None:
    """Raise this process's limit of open files to what its connections need, as far as the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_SERVED + RESERVED + OTHER_FILES
    if 0 <= soft < wanted:
        with suppress(OSError, ValueError):  # A hardened service may not; its limit is set in its unit.
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard < 0 else min(wanted, hard), hard))
