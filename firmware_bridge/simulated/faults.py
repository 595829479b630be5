"""Faults on demand: ``open:c3@5+2`` opens the wire of c3 five seconds after the start, for two seconds."""

from __future__ import annotations

import re
from dataclasses import dataclass

from firmware_bridge.errors import BridgeError
from firmware_bridge.firmware.wire import PILLARS

OF_PILLARS = ("open", "short", "stuck", "jam", "noise")
OF_THE_LINE = ("drop", "flip")
OF_THE_BOARD = ("supply", "line", "reboot", "freeze", "cable")
NAMES = (*OF_PILLARS, *OF_THE_LINE, *OF_THE_BOARD)

CABLE_S = 2.0
"""How long a cable is out unless another time is given; everything else lasts."""

USUAL_PILLAR = "c3"
WRITTEN = re.compile(r"(?P<name>[a-z]+)(:(?P<cell>[a-e][1-5]))?@(?P<at>\d+(\.\d+)?)(\+(?P<lasts>\d+(\.\d+)?))?")
CELLS = tuple(f"{file}{rank}" for rank in range(1, 6) for file in "abcde")
assert len(CELLS) == PILLARS


@dataclass(frozen=True, slots=True)
class Fault:
    """One of NAMES, on pillar number ``pillar``, from ``from_s`` to ``to_s`` after the start."""

    name: str
    pillar: int
    from_s: float
    to_s: float

    def is_on(self, t_s: float, before_s: float) -> bool:
        """Whether it lasts at this time, or came and went since ``before_s``: even one that short is not left out."""
        return self.from_s <= t_s and (t_s < self.to_s or before_s < self.from_s)


def parse_fault(text: str) -> Fault:
    """The fault of ``NAME[:CELL]@SECONDS[+DURATION]``.  Raises BridgeError that says how one is written."""
    found = WRITTEN.fullmatch(text)
    if found is None or found["name"] not in NAMES:
        known = ", ".join(NAMES)
        raise BridgeError(
            f"--fault {text!r}: write NAME[:CELL]@SECONDS[+DURATION], such as open:c3@5+2; names: {known}"
        )
    if found["cell"] and found["name"] not in OF_PILLARS:
        raise BridgeError(f"--fault {text!r}: {found['name']} is no fault of one pillar; leave out :{found['cell']}")
    at_s = float(found["at"])
    lasts_s = float(found["lasts"]) if found["lasts"] else CABLE_S if found["name"] == "cable" else float("inf")
    return Fault(found["name"], CELLS.index(found["cell"] or USUAL_PILLAR), at_s, at_s + lasts_s)
