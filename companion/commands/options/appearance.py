"""The option that names the file of a set's appearance."""

from __future__ import annotations

from pathlib import Path

from calibration.appearance import SetAppearance, load_appearance
from calibration.kit import Kit
from companion.errors import CompanionError


def appearance_of(file: Path | None, kit: Kit) -> SetAppearance:
    """The appearance of a kit's set, from a file; None: the kit's own colours.

    Raises ProfileError, and CompanionError for a kit without colours for its board if none were learned.
    """
    appearance = load_appearance(file, kit)
    if kit.board.cell_colour is None and appearance.board is None:
        raise CompanionError(
            f"the kit {kit.name} names no colours of its board: learn how it looks by `companion calibrate pieces`, "
            "and give --set"
        )
    return appearance
