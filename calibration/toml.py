"""Reading TOML strictly: every key is requested by name and type, and a key that nobody requested is an error."""

from __future__ import annotations

import difflib
import tomllib
import unicodedata
from pathlib import Path
from typing import Any, TypeVar

from calibration.errors import ProfileError
from calibration.files import LARGEST_NUMBER, is_number, read_text

T = TypeVar("T")
Point = tuple[float, float]
Corners = tuple[Point, Point, Point, Point]

LONGEST_SHOWN = 80
"""Characters of a wrong value that a message repeats."""


class Table:
    """One TOML table being read.  Every error names the file, the key's full path, and what is expected."""

    def __init__(self, values: object, where: str) -> None:
        if not isinstance(values, dict):
            raise ProfileError(f"{where}: expected a table, got {_shortened(values)}")
        self._values = dict(values)
        self._known: list[str] = []
        self.where = where

    def names(self) -> tuple[str, ...]:
        """Names of all keys in this table."""
        return tuple(self._values)

    def has(self, key: str) -> bool:
        """Whether ``key`` is in this table."""
        return key in self._values

    def get(self, key: str, kind: type[T], default: T | None = None) -> T:
        """The value of ``key``; ``default`` where it is absent.  Raises ProfileError when absent or of another type."""
        self._known.append(key)
        value = self._values.get(key, default)
        if value is None:
            raise ProfileError(f"{self.where}: {key} is missing")
        is_count = isinstance(value, int) and not isinstance(value, bool)
        if not (isinstance(value, kind) or (kind is float and is_count)) or (kind is int and not is_count):
            raise ProfileError(f"{self.where}: {key} must be {kind.__name__}, got {_shortened(value)}")
        if kind in (int, float) and not is_number(value):
            raise ProfileError(f"{self.where}: {key} must be a finite number, got {_shortened(value)}")
        value = float(value) + 0.0 if kind is float else value
        assert isinstance(value, kind)
        if isinstance(value, str) and not is_plain(value):
            raise ProfileError(f"{self.where}: {key} must be one line of text, got {_shortened(value)}")
        return value

    def numbers(self, key: str, count: int, low: float = -LARGEST_NUMBER, high: float = LARGEST_NUMBER) -> list[float]:
        """A list of so many numbers from ``low`` to ``high``."""
        values = self.get(key, list)
        if len(values) != count or not all(is_number(v) and low <= v <= high for v in values):
            limits = "" if (low, high) == (-LARGEST_NUMBER, LARGEST_NUMBER) else f" from {low:g} to {high:g}"
            raise ProfileError(f"{self.where}: {key} must be {count} finite numbers{limits}, got {_shortened(values)}")
        return [float(v) + 0.0 for v in values]  # -0.0 becomes 0.0: libraries look at its sign

    def length(self, key: str, default: float | None = None) -> float:
        """A length in millimetres (or a count): a number greater than zero."""
        value = self.get(key, float, default)
        if value <= 0:
            raise ProfileError(f"{self.where}: {key} must be greater than zero, got {value!r}")
        return value

    def point(self, key: str) -> tuple[float, float]:
        """A pair of numbers [x, y]."""
        x, y = self.numbers(key, 2)
        return x, y

    def corners(self, key: str) -> Corners:
        """Four points [[x, y], …] in mm, clockwise seen from above (x to the right, y away)."""
        value = self.get(key, list)
        numbers = [v for point in value if isinstance(point, list) and len(point) == 2 for v in point]
        if len(value) != 4 or len(numbers) != 8 or not all(map(is_number, numbers)):
            raise ProfileError(f"{self.where}: {key} must be four points [[x, y], …], got {_shortened(value)}")
        points = [(float(x), float(y)) for x, y in value]
        turns = [_turn(points[i - 2], points[i - 1], points[i]) for i in range(4)]
        if not all(turn < 0 for turn in turns):
            raise ProfileError(f"{self.where}: {key} must go clockwise round the marker, from its own top left corner")
        return points[0], points[1], points[2], points[3]

    def colour(self, key: str, default: str | None = None) -> tuple[int, int, int]:
        """A colour ``"#rrggbb"`` as (r, g, b), each 0…255."""
        value = self.get(key, str, default)
        digits = value[1:]
        if len(value) != 7 or value[0] != "#" or not all(c in "0123456789abcdefABCDEF" for c in digits):
            raise ProfileError(f'{self.where}: {key} must be a colour "#rrggbb", got {value!r}')
        return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)

    def table(self, key: str) -> Table:
        """The table under ``key``; an absent one is an error."""
        self._known.append(key)
        if key not in self._values:
            raise ProfileError(f"{self.where}: [{key}] is missing")
        return Table(self._values[key], f"{self.where}: {key}")

    def tables(self, key: str) -> tuple[Table, ...]:
        """The list of tables under ``key``."""
        rows = self.get(key, list)
        return tuple(Table(row, f"{self.where}: {key}[{i}]") for i, row in enumerate(rows))

    def done(self) -> None:
        """Refuse keys that nobody requested, naming the nearest known one."""
        for key in self._values:
            if key not in self._known:
                near = difflib.get_close_matches(key, self._known, n=1)
                hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(set(self._known)))}"
                raise ProfileError(f"{self.where}: {key} is not known{hint}")


def _turn(a: Point, b: Point, c: Point) -> float:
    """Twice the area of a triangle; negative where its corners are in clockwise order."""
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])


def load(path: Path) -> dict[str, Any]:
    """The contents of a TOML file.  Raises ProfileError when it cannot be read or is not TOML."""
    try:
        return tomllib.loads(read_text(path))
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ProfileError(f"{path}: is not UTF-8 text (byte {error.start})") from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, a number of too many digits, too deep a nesting
        raise ProfileError(f"{path}: is not TOML: {error}") from error


def is_plain(text: str) -> bool:
    """Whether ``text`` is one line without control characters."""
    return not any(unicodedata.category(letter) in ("Cc", "Zl", "Zp", "Cs") for letter in text)


def _shortened(value: object) -> str:
    """A value as an error message shows it: short."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a number of too many digits"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
