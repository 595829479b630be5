"""Draws how the panel is wired to a Raspberry Pi: `python -m tools.wiring docs/wiring.svg`; pins as in the program."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from companion.panel.pins import Pins

HEADER = (
    *("3V3", "5V", "2", "5V", "3", "GND", "4", "14", "GND", "15", "17", "18", "27", "GND", "22", "23", "3V3", "24"),
    *("10", "GND", "9", "25", "11", "8", "GND", "7", "0", "1", "5", "GND", "6", "12", "13", "GND", "19", "16", "26"),
    *("20", "GND", "21"),
)
"""GPIO number or power of pins 1 to 40 of the header (raspberrypi.com, "GPIO and the 40-pin header")."""

ROW_HEIGHT, TOP, MIDDLE, HOLE_RADIUS = 28, 70, 440, 9
"""Layout in px: distance of the header's rows, y of the first row, x of the header's middle, radius of a hole."""

PART_OFFSET, RAIL_OFFSET = 190, 365
"""Distances in px of parts and ground rails from the header's middle."""

LAMP, BUTTON, BUZZER = "lamp", "button", "buzzer"
STATUS_INKS = {"red": "#c62828", "green": "#2e7d32", "blue": "#1565c0"}
DARK, LIGHT, PAPER = "#263238", "#90a4ae", "#fafafa"


def parts(pins: Pins) -> Mapping[str, tuple[str, str, str]]:
    """Kind, label and colour of the part on each GPIO number in use."""
    parts_by_gpio = {str(getattr(pins, name)): (LAMP, f"status, {name}", ink) for name, ink in STATUS_INKS.items()}
    parts_by_gpio |= {str(pin): (LAMP, f"player {i}", DARK) for i, pin in enumerate(pins.players, start=1)}
    parts_by_gpio |= {str(getattr(pins, name)): (BUTTON, name, DARK) for name in ("done", "undo", "arbiter")}
    return parts_by_gpio | {str(pins.buzzer): (BUZZER, "buzzer", DARK)}


def draw(pins: Pins) -> str:
    """The drawing as SVG."""
    height = TOP + 20 * ROW_HEIGHT + 70
    body = "\n".join((*_rails(), *_header(parts(pins))))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * MIDDLE} {height}" font-family="sans-serif" '
        f'font-size="13">\n<rect width="100%" height="100%" fill="{PAPER}"/>\n{body}\n</svg>\n'
    )


def _header(parts_by_gpio: Mapping[str, tuple[str, str, str]]) -> Iterator[str]:
    """The header's pins, with the parts and ground lines connected to them."""
    title = "Raspberry Pi, 40-pin header"
    yield f'<text x="{MIDDLE}" y="28" text-anchor="middle" font-size="17" fill="{DARK}">{title}</text>'
    yield f'<rect x="{MIDDLE - 34}" y="{TOP - 16}" width="68" height="{20 * ROW_HEIGHT + 4}" rx="6" fill="{DARK}"/>'
    for place, name in enumerate(HEADER, start=1):
        side = -1 if place % 2 else 1
        x, y = MIDDLE + side * 15, TOP + (place - 1) // 2 * ROW_HEIGHT
        if name in parts_by_gpio:
            yield from _part(*parts_by_gpio[name], side, y, name)
        elif name == "GND" and place in (6, 9):
            yield _line(x, y, MIDDLE + side * RAIL_OFFSET, y, DARK)
            yield _text(MIDDLE + side * 70, y - 5, "ground", DARK)
        fill = parts_by_gpio[name][2] if name in parts_by_gpio else "#ffd54f" if name == "GND" else LIGHT
        yield f'<circle cx="{x}" cy="{y}" r="{HOLE_RADIUS}" fill="{fill}" stroke="#fff"/>'
        ink = "#fff" if name in parts_by_gpio else DARK
        yield f'<text x="{x}" y="{y + 3}" text-anchor="middle" font-size="9" fill="{ink}">{place}</text>'


def _rails() -> Iterator[str]:
    """The ground rails at both edges, and the legend."""
    for side, first in ((-1, 4), (1, 2)):
        x = MIDDLE + side * RAIL_OFFSET
        yield f'<path d="M{x} {TOP + first * ROW_HEIGHT} V{TOP + 19 * ROW_HEIGHT}" stroke="{DARK}" stroke-width="4"/>'
        yield f'<text x="{x}" y="{TOP + 20 * ROW_HEIGHT + 10}" text-anchor="middle" fill="{DARK}">ground</text>'
    legend = (
        "Boxes are resistors of 330 Ω. The status light is one RGB LED with a common cathode. "
        "Small numbers are places on the header."
    )
    yield f'<text x="{MIDDLE}" y="{TOP + 20 * ROW_HEIGHT + 46}" text-anchor="middle" fill="{DARK}">{legend}</text>'


def _part(kind: str, label: str, ink: str, side: int, y: int, gpio: str) -> Iterator[str]:
    """One part between its pin and the ground rail."""
    x_part, x_rail = MIDDLE + side * PART_OFFSET, MIDDLE + side * RAIL_OFFSET
    yield _text(MIDDLE + side * 70, y - 5, f"GPIO{gpio}", DARK)
    yield _line(MIDDLE + side * 24, y, x_rail, y, ink)
    if kind == LAMP:
        box = x_part - 34 if side > 0 else x_part + 8
        yield f'<rect x="{box}" y="{y - 6}" width="26" height="12" fill="{PAPER}" stroke="{ink}" stroke-width="1.5"/>'
        point = x_part + side * 30
        yield f'<path d="M{x_part + side * 14} {y - 8} V{y + 8} L{point} {y} Z" fill="{ink}"/>'
        yield _line(point, y - 8, point, y + 8, ink)
    elif kind == BUTTON:
        yield f'<rect x="{x_part - 13}" y="{y - 3}" width="26" height="6" fill="{PAPER}"/>'
        yield _line(x_part - 13, y - 7, x_part + 13, y - 7, ink)
        yield _line(x_part, y - 7, x_part, y - 11, ink)
        yield "".join(f'<circle cx="{x_part + dx}" cy="{y}" r="3" fill="{ink}"/>' for dx in (-13, 13))
    else:
        yield f'<circle cx="{x_part}" cy="{y}" r="11" fill="{PAPER}" stroke="{ink}" stroke-width="1.5"/>'
        yield f'<text x="{x_part}" y="{y + 4}" text-anchor="middle" font-size="11" fill="{ink}">♪</text>'
    yield _text(x_part + side * 100, y - 5, label, ink)


def _line(x1: int, y1: int, x2: int, y2: int, ink: str) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{ink}" stroke-width="1.5"/>'


def _text(x: int, y: int, text: str, ink: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle" font-size="12" fill="{ink}">{text}</text>'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(Pins()), encoding="utf-8")
