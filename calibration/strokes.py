"""The characters of Chinese chess, stroke by stroke, so that no font is needed to draw or to simulate them."""

from __future__ import annotations

from functools import cache

Stroke = tuple[tuple[float, float], ...]
"""Corners of a line on a grid of 10 by 10, x to the right, y up."""

PARTS = {
    "亻": "9,10 0,5.5; 6,7.8 6,0",
    "士": "0,6.5 10,6.5; 5,10 5,1; 1.5,1 8.5,1",
    "車": "1,9 9,9; 2,7.5 8,7.5 8,3.5 2,3.5 2,7.5; 2,5.5 8,5.5; 0,2 10,2; 5,10 5,0",
    "馬": "2,4.2 2,9.5 8,9.5; 2,7.7 7.5,7.7; 2,6 7.5,6; 5,9.5 5,4.2; 2,4.2 9,4.2 8.6,.8 7.4,.2; "
    "1,2.6 .3,.6; 3,2.6 3.2,1; 4.8,2.6 5.2,1.2; 6.4,2.8 7,1.4",
    "包": "3,10 .5,6.5; 2,8 8.5,8 8.2,4 6.8,3.6; 2,6 6,6 6,4 2,4; 2,6 2,1 3,.4 9,.4 9.6,2.2",
    "火": "5,10 5,5 1,0; 5,5 9,0; 1.5,7.5 2.6,5; 9,8 7,5.5",
    "木": "0,7 10,7; 5,10 5,0; 5,7 0,2; 5,7 9.5,3",
    "目": "1,9.5 9,9.5 9,0 1,0 1,9.5; 1,6.4 9,6.4; 1,3.3 9,3.3",
    "兵": "7,10 2.5,8.8 2.5,3.4; 2.5,6.4 8.5,6.4; 6.2,6.4 6.2,3.4; 0,3.4 10,3.4; 3.6,2.4 1.2,0; 6.4,2.4 8.8,0",
    "卒": "5,10 5,8.6; 1,8.4 9,8.4; 3.2,8 1.6,4.6; 3,6.4 4.4,5; 6.8,8 5.4,4.6; 6.6,6.4 8.4,4.8; .4,3.4 9.6,3.4; "
    "5,4.6 5,0",
    "帥": "2,10 1.2,8.8; .8,8.8 .8,0; .8,8.8 3.8,8.8 3.8,5.4 .8,5.4; .8,3.6 3.8,3.6 3.8,0 .8,0; "
    "5.2,1.6 5.2,7.6 9.6,7.6 9.6,2 8.8,1.4; 7.4,10 7.4,0",
    "將": "1,9.6 1,5.6 3.6,5.6; 3.6,10 3.6,0; .2,4 3.6,4; 1.2,4 .4,.4; 6.6,10 4.8,7.4; 6,8.8 9.2,8.8 5.2,5; "
    "6.4,7.6 7,6.8; 4.6,3.8 10,3.8; 8.2,5.4 8.2,.4 7.2,.8; 5.8,2.8 6.6,1.8",
    "象": "4,10 2,8; 3.4,9.2 6.8,9.2 5.8,7.8; 2,7.8 8,7.8 8,5.8 2,5.8 2,7.8; 5,7.8 4.4,5.8 1,4; "
    "5,5.2 6.2,3.4 5.8,.4 4.6,.8; 5,4.6 1.2,2.6; 5.6,3 1,.8; 8.6,5 6.4,3.8; 6.4,3.6 9.6,.8",
}
"""Corners of each stroke, strokes separated by semicolons."""

COMPOUNDS = {"仕": ("亻士", 3.8), "相": ("木目", 5.0), "俥": ("亻車", 3.8), "傌": ("亻馬", 3.8), "炮": ("火包", 4.8)}
"""Characters of two parts side by side: the parts, and the width of the left one."""

GAP = 0.4
"""Between the parts of a compound."""


@cache
def strokes(character: str) -> tuple[Stroke, ...]:
    """The strokes of a character; none where it is not known here."""
    if character in COMPOUNDS:
        parts, width = COMPOUNDS[character]
        left, right = (_strokes(PARTS[part]) for part in parts)
        return (*_squeezed(left, 0, width - GAP), *_squeezed(right, width + GAP, 10))
    return _strokes(PARTS[character]) if character in PARTS else ()


def _strokes(text: str) -> tuple[Stroke, ...]:
    return tuple(tuple(_point(point) for point in line.split()) for line in text.split(";"))


def _point(text: str) -> tuple[float, float]:
    x, y = text.split(",")
    return float(x), float(y)


def _squeezed(lines: tuple[Stroke, ...], left: float, right: float) -> tuple[Stroke, ...]:
    return tuple(tuple((x * ((right - left) / 10) + left, y) for x, y in line) for line in lines)
