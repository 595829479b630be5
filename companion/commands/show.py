"""`companion show`: draws the board of a position."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.position import add_rules_command
from companion.commands.output.answers import print_answer
from companion.commands.output.codes import DONE
from companion.commands.output.files import write_file
from companion.games import read_position
from companion.rules import drawing
from companion.scene.svg import draw_svg


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion show`."""

    position: str
    svg: Path | None
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `show`."""
    summary = "the board of a position, drawn with characters or as a picture"
    show = add_rules_command(subparsers, "show", Options, run, summary)
    show.add_argument("position", metavar="POSITION")
    show.add_argument("--svg", type=Path, metavar="FILE", help="write a picture of the board to FILE")


def run(options: Options) -> int:
    """Print the board as text; with --svg write a picture too."""
    game, position = read_position(options.position)
    picture = drawing.draw_text(game, position)
    if options.svg is not None:
        write_file(options.svg, draw_svg(game, position), "--svg")
    print_answer({"position": options.position, "board": picture}, picture.splitlines(), is_json=options.json)
    return DONE
