"""`companion token`: prints the arbiter's token of a table that starts automatically."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.output.codes import DONE
from companion.recorder.place import FOLDER, state_folder
from companion.web.token import read_token

SERVICE_STATE = Path("/var/lib") / FOLDER
"""The state folder of the service that `make install-pi` installs."""


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion token`."""

    state: Path | None


def add_parser(subparsers: Subparsers) -> None:
    """Add `token`."""
    token = add_command(
        subparsers, "token", Options, run, help="show the arbiter's token of a table that starts by itself"
    )
    token.add_argument("--state", type=Path, metavar="DIR", help=f"its state folder (default: {SERVICE_STATE})")


def run(options: Options) -> int:
    """Print the token."""
    print(read_token(options.state or state_folder(os.environ) or SERVICE_STATE))
    return DONE
