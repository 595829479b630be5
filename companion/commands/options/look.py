"""The option that names the file of a set's look."""

from __future__ import annotations

from pathlib import Path

from calibration.kit import Kit
from calibration.looks import SetLook, load_look
from companion.errors import CompanionError


def look_of(file: Path | None, kit: Kit) -> SetLook:
    """The look of a kit's set in a file; None: its own colours.

    Raises ProfileError, and CompanionError for a kit that names no colours of its board where none were learned.
    """
    look = load_look(file, kit)
    if kit.board.cell_colour is None and look.board is None:
        raise CompanionError(
            f"the kit {kit.name} names no colours of its board: learn how it looks by `companion calibrate pieces`, "
            "and give --set"
        )
    return look
