"""Static files of a page, from the package: few and small, so they are held in memory and compressed once."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class File:
    """One file: its bytes, its compressed bytes, its media type, and its ETag."""

    plain: bytes
    packed: bytes
    kind: str
    tag: str


class Files:
    """Serves every file of a folder at ``/static/NAME``, and some also at other paths."""

    def __init__(self, folder: Path, places: Mapping[str, str]) -> None:
        """``places``: path without its first slash -> name of the file served there."""
        self._files = {path.name: _read(path) for path in sorted(folder.iterdir()) if path.suffix in TYPES}
        self._places = places

    def routes(self) -> list[Route]:
        """The routes of all files."""
        fixed = [Route(f"/{place}", self._serve, name=name) for place, name in self._places.items()]
        return [*fixed, Route("/static/{name}", self._serve)]

    def named(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        """A request handler that always serves the file ``name``."""

        async def serve(request: Request) -> Response:
            return self._answer(name, request)

        return serve

    async def _serve(self, request: Request) -> Response:
        name = request.path_params.get("name") or self._places[request.url.path.removeprefix("/")]
        return self._answer(name, request)

    def _answer(self, name: str, request: Request) -> Response:
        file = self._files.get(name)
        if file is None:
            return Response("there is no such file\n", 404, media_type="text/plain")
        headers = {"etag": file.tag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == file.tag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(file.packed, headers=headers | {"content-encoding": "gzip"}, media_type=file.kind)
        return Response(file.plain, headers=headers, media_type=file.kind)


@cache
def _read(path: Path) -> File:
    plain = path.read_bytes()
    return File(plain, gzip.compress(plain, mtime=0), TYPES[path.suffix], f'"{hashlib.sha256(plain).hexdigest()[:16]}"')
