"""Finds the lines of keys in a TOML file, which the standard library's parser does not report."""

from __future__ import annotations

import re
from collections.abc import Mapping

HEADER = re.compile(r"\s*\[+\s*([\w-]+)\s*\]+\s*(#.*)?$")
ASSIGNMENT = re.compile(r"""\s*["']?([\w-]+)["']?\s*=""")

Path = tuple[str, ...]
"""Names from the outermost table to the key."""


def key_lines(text: str) -> Mapping[Path, int]:
    """Line (from 1) of each table and key of a TOML text with tables of one level; of duplicates, the first."""
    lines: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := HEADER.match(line):
            table = (header[1],)
            lines.setdefault(table, number)
        elif assignment := ASSIGNMENT.match(line):
            lines.setdefault((*table, assignment[1]), number)
    return lines
