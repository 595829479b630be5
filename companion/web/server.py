"""Serves an ASGI application in a separate thread."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from threading import Event, Thread
from typing import TYPE_CHECKING

import uvicorn
from starlette.types import ASGIApp

from companion.errors import CompanionError
from companion.web.connections import allow_connections, connection_class

if TYPE_CHECKING:
    from companion.web.tls import Certificate

CLOSING_S = 1
"""Time that open responses may take when the program ends."""


class Server:
    """Serves ``app`` at an address until it is closed."""

    def __init__(
        self, address: tuple[str, int], app: ASGIApp, begin: Callable[[], None], tls: Certificate | None = None
    ) -> None:
        """Listen at once.

        Args:
            address: host and port; port 0 takes a free one.
            app: the application.
            begin: called in the server's event loop before it serves.
            tls: the certificate; None: served without TLS.

        Raises:
            CompanionError: the address cannot be used.
        """
        host, port = address
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self._socket = socket.create_server((host, port), family=family, backlog=256)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise CompanionError(f"--web {host}:{port}: cannot listen there ({why}); give another HOST:PORT") from None
        self.host, self.port = host, int(self._socket.getsockname()[1])
        allow_connections()
        config = uvicorn.Config(
            app,
            access_log=False,
            log_config=None,
            log_level="error",
            lifespan="off",
            http=connection_class(None if tls is None else tls.context()),
            timeout_graceful_shutdown=CLOSING_S,
            server_header=False,
            ws="none",
        )
        self._scheme = "http" if tls is None else "https"
        self._server = uvicorn.Server(config)
        self._begin = begin
        self._begun = Event()
        self._thread = Thread(target=self._run, name="web", daemon=True)
        self._thread.start()
        self._begun.wait()

    @property
    def url(self) -> str:
        """The page's URL, as people type it."""
        return self.url_of()

    def url_of(self, host: str = "") -> str:
        """The page's URL with ``host`` as the machine's name; empty: the name by which it knows itself."""
        shown = host or {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(self.host, self.host)  # noqa: S104
        return f"{self._scheme}://[{shown}]:{self.port}/" if ":" in shown else f"{self._scheme}://{shown}:{self.port}/"

    def close(self) -> None:
        """Stop serving; a second call does nothing."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._begin()
        self._begun.set()
        await self._server.serve(sockets=[self._socket])
