"""Documentation: pages that are referred to exist, and the examples of the notation are valid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.games import load_game, read_position
from companion.rules.notation import format_move, format_position, parse_move, position_tag

ROOT = Path(__file__).parents[1]
SOURCES = ("companion", "vision", "calibration", "firmware_bridge", "tools", "docs", "examples", "deploy")
SUFFIXES = {".py", ".md", ".toml", ".js", ".html"}
PAGE = re.compile(r"(?<![\w/.*-])[\w./-]+\.md\b")
NOTATION = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"`([a-z:]+(?:/[34])?)`: `([^`]+)`")


def written() -> Iterator[Path]:
    """Yield every file of the repository that people read, except tests and bundled libraries."""
    yield from ROOT.glob("*.md")
    for folder in SOURCES:
        yield from (
            path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES and ".min." not in path.name
        )


def missing_pages(path: Path) -> list[str]:
    """Return the pages named in a file that are neither beside it, nor in the repository root, nor in ``docs``."""
    named = PAGE.findall(path.read_text(encoding="utf-8"))
    return [name for name in named if not any((base / name).exists() for base in (path.parent, ROOT, ROOT / "docs"))]


@pytest.mark.parametrize("path", list(written()), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_page_that_is_named_exists(path: Path) -> None:
    assert missing_pages(path) == []


def test_a_page_that_does_not_exist_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.py"
    page.write_text('"""As in docs/notation.md, and in interfaces.md."""', encoding="utf-8")
    assert missing_pages(page) == ["interfaces.md"]


def test_positions_in_the_notation_are_positions() -> None:
    lines = [line for line in NOTATION.splitlines() if re.match(r"[a-z]+[:a-z]* \S*/\S* ", line)]
    assert len(lines) >= 2
    for line in lines:
        assert format_position(*read_position(line)) == line
        assert load_game(position_tag(line))


@pytest.mark.parametrize(("tag", "text"), EXAMPLE.findall(NOTATION))
def test_examples_in_the_notation_are_moves(tag: str, text: str) -> None:
    game = load_game(tag)
    move = parse_move(game, game.start(), text)
    assert format_move(game, game.start(), move) == text
