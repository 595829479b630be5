"""The arbiter's token of a table that starts automatically: the same at every start, readable by its owner only."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from calibration.files import read_text
from companion.errors import CompanionError

FILE = "arbiter-token"
"""Name of the token's file in the state folder of the service."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}")


def new_token() -> str:
    """A new token of 96 random bits, safe to use in a URL."""
    return secrets.token_urlsafe(12)


def kept_token(folder: Path) -> str:
    """The token kept in ``folder``, made if there is none yet; its file can be read by its owner only.

    Raises CompanionError when it cannot be read or made, or is not a token.
    """
    path = folder / FILE
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_token(folder)
    except OSError as error:
        raise CompanionError(f"{path}: cannot be written ({error.strerror})") from error
    token = new_token()
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(descriptor)
    return token


def read_token(folder: Path) -> str:
    """The token kept in ``folder``.  Raises CompanionError when there is none that can be read."""
    path = folder / FILE
    try:
        token = read_text(path).strip()
    except FileNotFoundError:
        raise CompanionError(f"{path}: there is no token yet; a table that is started by the system makes it") from None
    except PermissionError:
        raise CompanionError(f"{path}: only its owner may read it; try: sudo companion token") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CompanionError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if _TOKEN.fullmatch(token) is None:
        raise CompanionError(f"{path}: is no token; remove it and start the table again")
    return token
