"""The result of one check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class State(Enum):
    """How a check ended."""

    OK = "ok"
    FAULT = "fault"
    UNUSED = "unused"


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked and found; ``todo`` says what to do about a fault."""

    name: str
    state: State
    found: str
    todo: str = ""

    def line(self) -> str:
        """For people."""
        mark = {State.OK: "ok", State.FAULT: "FAULT", State.UNUSED: "-"}[self.state]
        return f"{mark:<6} {self.name:<9} {self.found}" + (f": {self.todo}" if self.todo else "")

    def row(self) -> dict[str, Any]:
        """For programs."""
        return {"check": self.name, "state": self.state.value, "found": self.found, "do": self.todo or None}


def fine(name: str, found: str) -> Check:
    """A check that found nothing wrong."""
    return Check(name, State.OK, found)


def fault(name: str, found: str, todo: str) -> Check:
    """A check that found something that must be put right."""
    return Check(name, State.FAULT, found, todo)


def unused(name: str, why: str) -> Check:
    """Something that this table does not have, or that could not be looked at."""
    return Check(name, State.UNUSED, why)


def told(name: str, error: Exception) -> Check:
    """A fault from an error, whose one line says what is wrong, then what to do."""
    found, _, todo = str(error).rpartition(": ") if ": " in str(error) else (str(error), "", "")
    return Check(name, State.FAULT, found or todo, todo if found else "")
