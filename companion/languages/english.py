"""English."""

from __future__ import annotations

from types import MappingProxyType

from companion.languages.language import Language

ENGLISH = Language(
    players=MappingProxyType(
        {"R": "Red", "G": "Green", "B": "Blue", "Y": "Yellow", "S": "South", "N": "North"},
    ),
    texts=MappingProxyType(
        {
            "turn": "{next} to move.",
            "start": "The match begins.",
            "accepted": "{player} played {move}.",
            "illegal": "{player}: {attempt} is not allowed ({rules}): {reason} {back}",
            "illegal.table": "{player}: this is not allowed ({rules}): {reason} {back}",
            "back": "Put it back.",
            "back.move": "Put {piece} on {source} back on {target}.",
            "back.moves": "Put the top {n} pieces on {source} back on {target}.",
            "back.off": "Take {piece} off {source}.",
            "back.offs": "Take the top {n} pieces off {source}.",
            "back.on": "Put {piece} back on {target}.",
            "back.ons": "Put {n} pieces back on {target}.",
            "back.lower": "Lower the pillar {target} to level {level}.",
            "back.raise": "Raise the pillar {target} to level {level}.",
            "piece": "the piece",
            "piece.coloured": "the {colour} piece",
            "piece.of": "{name}'s piece",
            "did.move": "{player} moved a piece from {source} to {target}",
            "did.moves": "{player} moved {n} pieces from {source} to {target}",
            "did.place": "{player} put a piece from the reserve on {target}",
            "did.off": "{player} took a piece from {source} off the board",
            "did.exchange": "{player} exchanged the piece on {source} for one on {target}",
            "did.raise": "{player} raised the pillar {target}",
            "did.lower": "{player} lowered the pillar {target}",
            "unfinished": "The move is not finished: {todo}.",
            "unfinished.set-up": "{todo}.",
            "unfinished.unmoved": "Not yet: {todo}.",
            "restored": "The table is right again.",
            "withdrawn": "The accusation of {player} is withdrawn: {cells} was misread.",
            "taken-back": "Taken back: {moves}.",
            "unsure": "{question}",
            "unsure.one": "{question}",
            "unsure.one-hand": "{question}",
            "unsure.table": "{question}",
            "unsure.squares": "{question}",
            "corrected.position": "{by} has set the position.",
            "corrected": "{by} rules that {move} was played.",
            "view": "Camera: {state}.",
            "view.clear": "The board is in view.",
            "view.hand": "A hand is over the board.",
            "view.blocked": "Something stands before the board; take it away.",
            "view.no-mat": "The mat is not in view; uncover its corner markers.",
            "view.moved": "The camera or the mat was pushed; it is measured anew.",
            "view.dark": "It is too dark to see; switch on a light.",
            "view.noise": "The picture is noisy and never comes to rest; give the table more light.",
            "view.flicker": "The light flickers; set the camera to the mains' frequency, or change the lamp.",
            "view.shaking": "The camera shakes; fasten it, and not to the table.",
            "view.slow": (
                "Too few pictures come: the computer or the network is too slow. What looks wrong is asked about."
            ),
            "view.unread": "The picture cannot be read, by a fault of this program. The next one is tried.",
            "view.camera-lost": "The camera is gone; check its cable.",
            "sensors": "Pillar sensors: {state}.",
            "sensors.ok": "The pillar sensors work.",
            "sensors.lost": "The pillar sensors are silent; check the cable.",
            "sensors.fault": "The pillar sensors of {cells} are at fault.",
            "skipped": "{player} cannot move and is skipped.",
            "repeated": "This position has now been on the table {times} times.",
            "game-over": "{winner} wins ({rule}).",
            "part.arbiter": "the arbiter's ruling",
            "part.agreed": "by agreement",
            "game-over.drawn": "The game is drawn ({rule}).",
            "clock": "Clock: {left}.",
            "clock.flag": "{player} has no time left.",
            "saved": "Everything is saved again.",
            "paused": "The match is paused; nobody watches the table.",
            "resumed": "The match goes on.",
            "part.holds": "{cell} must hold {stack}",
            "part.empty": "{cell} must be empty",
            "part.stands": "pillar {cell} must stand at level {level}",
            "part.cells": "squares {cells}",
            "offer": "Was it {move}?",
            "put-right": "If something has been changed, put it right; if not, press undo.",
            "refused": "Not now: {why}.",
            "undo.restoring": "First put back what lies wrong.",
        }
    ),
    colours=MappingProxyType({name: name.lower() for name in ("Red", "Green", "Blue", "Yellow", "Black", "White")}),
    either="or",
    both="and",
    voice="en-gb",
    signs=MappingProxyType(
        {
            "to": "to",
            "off": "off the board",
            "=": "changes with",
            "*": "from the reserve onto",
            "+": "up",
            "-": "down",
            ":": "with {count}",
            "x": "takes",
        }
    ),
)


def counted(n: int, thing: str, things: str = "") -> str:
    """``1 move``, ``2 moves``; ``things`` where the plural has more than an s."""
    return f"{n} {thing if n == 1 else things or f'{thing}s'}"
