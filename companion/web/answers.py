"""What every page of the program answers alike: its files, and refusals in one line of JSON."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from companion.web.guard import Refused

STATIC = Path(__file__).parent / "static"


async def refused(_request: Request, error: Exception) -> Response:
    """A request that is not served."""
    assert isinstance(error, Refused)
    return error.response()


async def unserved(_request: Request, error: Exception) -> Response:
    """Unknown paths and methods, in one line like everything else."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)
