"""How large pieces look, as the page says it."""

from __future__ import annotations

from typing import Any

from vision.sizing import Sizes


def sizes_row(sizes: Sizes) -> dict[str, Any]:
    """Width and height in mm with their standard deviations, and whether they are known well enough."""
    return {
        "width": round(sizes.width_mm, 1),
        "width_off": round(sizes.width_deviation_mm, 1),
        "height": round(sizes.height_mm, 1),
        "height_off": round(sizes.height_deviation_mm, 1),
        "told": sizes.is_width_told and sizes.is_height_told,
    }
