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
from typing import NoReturn

from calibration.errors import ProfileError
from companion.errors import CompanionError
from vision.errors import VisionError

MODULES: dict[str, tuple[str, ...]] = {
    "rules": ("games", "start", "show", "legal", "check", "play", "perft"),
    "printing": ("mat",),
    "seeing": ("calibrate", "read"),
    "refereeing": ("referee",),
    "demonstration": ("demo",),
    "setup": ("setup",),
    "hall": ("hall",),
    "firmware": ("firmware",),
    "voicing": ("voice",),
    "doctor": ("doctor",),
    "records": ("matches", "verify"),
    "exporting": ("export", "import"),
    "explaining": ("explain", "clip"),
    "statistics": ("stats",),
}
"""Module in ``companion.commands`` -> the commands that it adds; only the one that is asked for is imported."""

DONE, NO, CANNOT = 0, 1, 2


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print one line on standard error and exit with 2."""
        self.exit(CANNOT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser(command: str | None) -> Parser:
    """The parser for ``command``, or for all commands where it is not one of ours (``--help``, a typing error)."""
    parser = Parser(prog="companion", description="The referee for physical stacking board games.")
    adders = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    wanted = [module for module, names in MODULES.items() if command in names] or list(MODULES)
    for module in wanted:
        importlib.import_module(f"companion.commands.{module}").add_parsers(adders)
    return parser


def _tame_libraries() -> None:
    """Keep OpenCV and its video library from writing beside our one line, and numpy to one thread; before they load."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OPENCV_LOG_LEVEL", "OFF")
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _tame_libraries()
    words = list(sys.argv[1:] if argv is None else argv)
    arguments = build_parser(words[0] if words else None).parse_args(words)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        code = run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has gone (`companion legal … | head`): not an error; keep Python's exit quiet too.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except (CompanionError, ProfileError, VisionError, OSError) as error:
        for line in str(error).splitlines():
            print(f"companion {arguments.command}: {line}", file=sys.stderr)
        return CANNOT
    return code


if __name__ == "__main__":
    sys.exit(main())
