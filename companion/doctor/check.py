"""The result of one check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Status(Enum):
    """How a check ended."""

    OK = "ok"
    FAULT = "fault"
    UNUSED = "unused"


@dataclass(frozen=True, slots=True)
class Check:
    """A check's subject and finding; ``todo`` says what to do about a fault."""

    name: str
    state: Status
    found: str
    todo: str = ""

    def line(self) -> str:
        """One line of text for people."""
        mark = {Status.OK: "ok", Status.FAULT: "FAULT", Status.UNUSED: "-"}[self.state]
        return f"{mark:<6} {self.name:<9} {self.found}" + (f": {self.todo}" if self.todo else "")

    def row(self) -> dict[str, Any]:
        """A JSON object for programs."""
        return {"check": self.name, "state": self.state.value, "found": self.found, "do": self.todo or None}


def fine(name: str, found: str) -> Check:
    """A check that found nothing wrong."""
    return Check(name, Status.OK, found)


def fault(name: str, found: str, todo: str) -> Check:
    """A check that found something that must be put right."""
    return Check(name, Status.FAULT, found, todo)


def unused(name: str, why: str) -> Check:
    """A check of something that this table does not have, or that could not be checked."""
    return Check(name, Status.UNUSED, why)


def fault_from(name: str, error: Exception) -> Check:
    """The failed check for an error whose message says what is wrong and, after the last colon, what to do."""
    found, _, todo = str(error).rpartition(": ") if ": " in str(error) else (str(error), "", "")
    return Check(name, Status.FAULT, found or todo, todo if found else "")
