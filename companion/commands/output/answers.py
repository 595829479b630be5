"""Answers of the rules: lines for people, or an object of JSON."""

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
    """Print an answer in one form or the other."""
    print(json.dumps(answer) if is_json else "\n".join(lines))


def answer_lines(answer: Callable[[str], Json]) -> int:
    """Answer each line of standard input with one JSON object; a line that cannot be read with its error."""
    code = DONE
    for line in _input_lines():
        try:
            answered = answer(line)
        except CompanionError as error:
            answered, code = {"position": line.partition("\t")[0][: notation.LONGEST_TEXT], "error": str(error)}, CANNOT
        print(json.dumps(answered))
    return code


def violation_row(violation: Violation) -> Json:
    """A broken rule."""
    return {"rule": violation.rule, "text": violation.text, "cells": list(violation.cells)}


def _input_lines() -> Iterator[str]:
    """The lines of standard input, whatever bytes they hold; empty ones are left out."""
    for raw in sys.stdin.buffer:
        line = raw.decode("utf-8", errors="replace").strip("\r\n")
        if line.strip():
            yield line
