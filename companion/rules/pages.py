"""A page of rules for people, made from a game file's own texts, so that disputes at a table can be settled by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from companion.rules.game import Game, Rule
from companion.rules.notation import format_position


def picture_name(game: Game) -> str:
    """File name of the picture of ``game``'s start."""
    return game.tag.replace(":", "-").replace("/", "-") + ".svg"


def rules_page(title: str, about: str, games: Sequence[Game]) -> str:
    """The page, in Markdown, of one game in all its variants, the main one first; ``about`` introduces it.

    Each start refers to its picture, :func:`picture_name`, beside the page.
    """
    main, *others = games
    own = [rule for rule in main.rules.values() if not rule.id.startswith("G-")]
    shared = [rule for rule in main.rules.values() if rule.id.startswith("G-")]
    lines = [f"# {title}", "", about.strip(), "", "## Rules", ""]
    lines += [line for rule in own for line in _rule_lines(rule)]
    lines += _differences(main, others)
    lines += ["## Rules that all games share", ""]
    lines += [line for rule in shared for line in _rule_lines(rule)]
    lines += ["## Starts", ""]
    for game in games:
        lines += [
            f"### `{game.tag}`",
            "",
            ", ".join(f"{game.names[player]} (`{player}`)" for player in game.players) + " move in this order.",
            "",
            f"![The start of {game.tag}]({picture_name(game)})",
            "",
            f"`{format_position(game, game.start())}`",
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def _rule_lines(rule: Rule) -> Iterator[str]:
    yield f"**{rule.id} {rule.title}.** {rule.text}"
    yield ""


def _differences(main: Game, others: Sequence[Game]) -> Iterator[str]:
    """The rules whose text differs in a variant, without duplicates."""
    told: set[Rule] = set(main.rules.values())
    for game in others:
        changed = [rule for rule in game.rules.values() if rule not in told]
        told.update(changed)
        if changed:
            yield from (f"In `{game.tag}`:", "")
            for rule in changed:
                yield from _rule_lines(rule)
