"""Reports that events cannot be saved, to those who do not look at a panel."""

from __future__ import annotations

import json
from collections.abc import Callable

from companion.commands.output.lines import notify
from companion.referee.snapshot import Snapshot
from vision.capture.frames import Frame

Say = Callable[[float, str | None], None]
"""Called with the match's time in seconds and the store's warning; None: everything is saved again."""


class SaveFailureReporter:
    """Follows a table, and reports when events begin to wait for the disk, and when none waits any more."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._is_failing = False

    def see(self, frame: Frame) -> None:
        """Ignore frames."""

    def follow(self, t_s: float, snapshot: Snapshot, warning: str | None) -> None:  # noqa: ARG002 - an observer's
        """Report if saving has begun to fail, or works again."""
        if (warning is not None) is not self._is_failing:
            self._is_failing = warning is not None
            self._say(t_s, warning)


def print_saving(t_s: float, warning: str | None) -> None:
    """Print it as a line of JSON among the events, without a number, since it is not an event of the match."""
    row = {"event": "saved", "t": t_s} if warning is None else {"event": "not-saved", "t": t_s, "why": warning}
    print(json.dumps(row, ensure_ascii=False), flush=True)


def notify_saving(_t_s: float, warning: str | None) -> None:
    """Print it as a line on standard error."""
    notify("everything is saved again" if warning is None else warning)
