"""The command line: finds the module of a command, runs it, and turns every expected error into one line.

Exit codes: 0 done, 1 the answer is no, 2 could not run.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from keyword import iskeyword
from typing import NoReturn

from calibration.errors import ProfileError
from companion import __version__
from companion.commands.output.codes import CANNOT, DONE
from companion.errors import CompanionError, fault_line
from companion.rules.notation import quoted
from companion.signal_handling import TerminationSignal, interrupted_by_signals
from vision.errors import VisionError

PROGRAM, VERSION = "companion", "--version"

COMMANDS: tuple[str, ...] = (
    "games",
    "start",
    "show",
    "legal",
    "check",
    "play",
    "perft",
    "mat",
    "measure",
    "calibrate",
    "read",
    "referee",
    "demo",
    "setup",
    "hall",
    "token",
    "firmware",
    "voice",
    "doctor",
    "matches",
    "verify",
    "export",
    "import",
    "explain",
    "clip",
    "stats",
)
"""Each is in the file of its name in ``companion/commands``; only the requested one is imported."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, and that suggests the option nearest to a mistyped one."""

    def parse_known_args(  # type: ignore[override]  # of its overloads, the one that argparse calls
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As usual, but unknown arguments are an error here, where the options nearest to them are known."""
        arguments, unknown = super().parse_known_args(args, namespace)
        if unknown:
            near = get_close_matches(unknown[0], self._option_string_actions, n=1)
            self.error(f"unrecognized arguments: {' '.join(unknown)}" + (f"; did you mean {near[0]}?" if near else ""))
        return arguments, unknown

    def error(self, message: str) -> NoReturn:
        """Print one line on standard error and exit with 2."""
        self.exit(CANNOT, f"{self.prog}: {message} (see {self.prog} --help)\n")


class Completion(argparse.Action):
    """Prints the script for a shell, and ends."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: object,  # noqa: ARG002 - argparse's
        values: object,
        option_string: str | None = None,
    ) -> NoReturn:
        """What argparse calls when the option is met."""
        from companion.completion import SHELLS, completion  # noqa: PLC0415 - few runs need it

        if values not in SHELLS:
            parser.error(f"{option_string}: there is no completion for {values}; known are {', '.join(SHELLS)}")
        print(completion(parser, str(values)))
        parser.exit()


def build_parser(command: str | None) -> Parser:
    """The parser for ``command``; for all commands if it is none; without commands if only the version is wanted."""
    parser = Parser(prog=PROGRAM, description="The referee for physical stacking board games.")
    parser.add_argument(
        "--completion",
        action=Completion,
        metavar="SHELL",
        help="print what makes this shell (bash, zsh, …) complete commands",
    )
    parser.add_argument(VERSION, action="version", version=f"{PROGRAM} {__version__}")
    adders = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    wanted = (command,) if command in COMMANDS else () if command == VERSION else COMMANDS
    for name in wanted:
        importlib.import_module(f"companion.commands.{name}{'_' * iskeyword(name)}").add_parser(adders)
    return parser


def _tame_libraries() -> None:
    """Keep OpenCV and its video library from writing beside our one line, and numpy to one thread; before they load."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OPENCV_LOG_LEVEL", "OFF")
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _tame_libraries()
    try:
        with interrupted_by_signals():
            code = _run(list(sys.argv[1:] if argv is None else argv))
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has gone (`companion legal … | head`): not an error; keep Python's exit quiet too.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except TerminationSignal as ending:
        return 128 + ending.number
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return code


def _run(words: list[str]) -> int:
    if not words:
        build_parser(None).print_help()
        return DONE
    if words[0] not in COMMANDS and not words[0].startswith("-"):
        near = get_close_matches(words[0], COMMANDS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        Parser(prog=PROGRAM).error(f"there is no command {quoted(words[0])}{hint}")
    arguments = build_parser(words[0]).parse_args(words)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except BrokenPipeError:
        raise
    except (CompanionError, ProfileError, VisionError, OSError) as error:
        for line in str(error).splitlines():
            print(f"{PROGRAM} {arguments.command}: {line}", file=sys.stderr)
        return CANNOT
    except Exception as error:
        if sys.flags.dev_mode:  # python -X dev: the whole traceback
            raise
        print(f"{PROGRAM} {arguments.command}: {fault_line(error)}", file=sys.stderr)
        return CANNOT


if __name__ == "__main__":
    sys.exit(main())
