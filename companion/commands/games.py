"""`companion games`: lists the games that can be played."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from calibration.kit import available_kits
from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.position import add_rules_command
from companion.commands.output.answers import Json, print_answer
from companion.commands.output.codes import DONE
from companion.commands.output.files import write_file
from companion.games import GameInfo, available_games, load_game
from companion.rules.pages import picture_name, rules_page
from companion.scene.svg import draw_svg


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion games`."""

    pages: Path | None
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `games`."""
    summary = "the games, their variants and numbers of players, their kit"
    games = add_rules_command(subparsers, "games", Options, run, summary)
    games.add_argument("--pages", type=Path, metavar="DIR", help="write each game's rules with pictures to DIR")


def run(options: Options) -> int:
    """Print every game."""
    for info in available_games():
        variants = [f"{info.name}:{variant}" for variant in info.variants if variant]
        kit = info.name if info.name in available_kits() else None
        row: Json = {"game": info.name, "title": info.title, "variants": variants, "players": info.players, "kit": kit}
        parts = [info.title, f"{_either(info.players)} players", f"kit {kit}" if kit else "no kit"]
        parts += [f"variants: {', '.join(variants)}"] if variants else []
        print_answer(row, [f"{info.name:<12} {'; '.join(parts)}"], is_json=options.json)
        if options.pages is not None:
            _write_page(info, options.pages)
    return DONE


def _either(numbers: tuple[int, ...]) -> str:
    """Numbers in words, such as ``2``, ``2 or 4``, ``2, 3 or 4``."""
    return " or ".join(filter(None, (", ".join(map(str, numbers[:-1])), str(numbers[-1]))))


def _write_page(info: GameInfo, folder: Path) -> None:
    games = [load_game(tag) for tag in info.tags]
    write_file(folder / f"{info.name}.md", rules_page(info.title, info.about, games), "--pages")
    for game in games:
        write_file(folder / picture_name(game), draw_svg(game, game.start()), "--pages")
