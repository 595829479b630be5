"""The wiring diagram agrees with the program's pins."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

from companion.panel.pins import PINS, RESERVED, Pins
from tools.wiring import HEADER, draw, parts

PAGE = Path(__file__).parents[2] / "docs" / "wiring.svg"


def test_the_drawing_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == draw(Pins())


def test_every_pin_of_the_header_is_there_once() -> None:
    numbers = [int(name) for name in HEADER if name.isdecimal()]
    assert len(HEADER) == 40
    assert sorted(numbers) == list(PINS)
    assert [HEADER.count(name) for name in ("3V3", "5V", "GND")] == [2, 2, 8]


def test_every_part_is_drawn_at_its_pin() -> None:
    pins = replace(Pins(), red=20, undo=4)
    texts = [element.text for element in ET.fromstring(draw(pins)).iter() if element.text]
    assert len(parts(pins)) == 11
    for number, (_, label, _) in parts(pins).items():
        assert f"GPIO{number}" in texts
        assert label in texts
        assert int(number) not in RESERVED
