"""Answers about the rules: lines for people, or a JSON object."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator

from companion.commands.output.codes import CANNOT, DONE
from companion.errors import CompanionError
from companion.rules import notation
from companion.rules.game import Violation

Json = dict[str, object]


def print_answer(answer: Json, lines: Iterable[str], *, is_json: bool) -> None:
    """Print ``answer`` as JSON, or ``lines``."""
    print(json.dumps(answer) if is_json else "\n".join(lines))


def answer_lines(answer: Callable[[str], Json]) -> int:
    """Answer each line of standard input with one JSON object; for a line that cannot be read, its error."""
    code = DONE
    for line in _input_lines():
        try:
            answered = answer(line)
        except CompanionError as error:
            answered, code = {"position": line.partition("\t")[0][: notation.LONGEST_TEXT], "error": str(error)}, CANNOT
        print(json.dumps(answered))
    return code


def violation_row(violation: Violation) -> Json:
    """A broken rule, as JSON."""
    return {"rule": violation.rule, "text": violation.text, "cells": list(violation.cells)}


def _input_lines() -> Iterator[str]:
    """The non-empty lines of standard input, whatever bytes they contain."""
    for raw in sys.stdin.buffer:
        line = raw.decode("utf-8", errors="replace").strip("\r\n")
        if line.strip():
            yield line
