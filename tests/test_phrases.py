"""Sentences for players: complete in every language, for every event and state."""

import string
from pathlib import Path

import pytest

from companion.descriptions import describe_move
from companion.errors import BadText
from companion.events import (
    KINDS,
    Accepted,
    ClockChanged,
    Corrected,
    Event,
    GameOver,
    Illegal,
    Repeated,
    Restored,
    SensorsChanged,
    Skipped,
    Start,
    TakenBack,
    Unfinished,
    Unsure,
    ViewChanged,
    Withdrawn,
)
from companion.games import available_tags, load_game, title_of, translation
from companion.phrases import ENGLISH, GERMAN, LANGUAGES, language, sentence, to_move
from companion.rules.notation import parse_move, parse_tag
from companion.rules.translation import read_translation
from tests.scene.acts import illegal
from tests.view_states import VIEW_STATES

RED_NEXT = "domination 4/6/8/8/8/8/6/4 R"
OVER = "domination 4/6/8/8/8/8/6/4 -"

SAID: tuple[tuple[Event, str, str], ...] = (
    (
        Start(t=0, n=1, position=RED_NEXT),
        "The match begins. Red to move.",
        "Die Partie beginnt. Rot ist am Zug.",
    ),
    (
        Accepted(t=0, n=1, player="G", move="c3-d3", position=RED_NEXT),
        "Green played c3-d3. Red to move.",
        "Grün hat c3-d3 gezogen. Rot ist am Zug.",
    ),
    (
        Accepted(t=0, n=1, player="G", move="c3-d3", position=OVER),
        "Green played c3-d3.",
        "Grün hat c3-d3 gezogen.",
    ),
    (
        Unsure(t=0, n=1, options=(), question="Has anything been changed that should not be?"),
        "Has anything been changed that should not be?",
        "Ist etwas verändert worden, das nicht sollte? Bitte das Brett prüfen.",
    ),
    (
        Illegal(
            t=0,
            n=1,
            player="R",
            attempt="c3-c6",
            rules=("DOM-5", "G-1"),
            reason="too far.",
            cells=("c3", "c6"),
            seen="",
            expected="",
        ),
        "Red: c3-c6 is not allowed (DOM-5, G-1): too far. Put it back.",
        (
            "Rot: c3-c6 ist nicht erlaubt (DOM-5, G-1). Ein Stapel zieht nur so weit, wie Steine mitgehen. "
            "Ein anderer ist am Zug. c3, c6: bitte zurückstellen."
        ),
    ),
    (
        Illegal(t=0, n=1, player="R", attempt=None, rules=("G-2",), reason="two.", cells=("a3",), seen="", expected=""),
        "Red: this is not allowed (G-2): two. Put it back.",
        ("Rot: Das ist nicht erlaubt (G-2). Ein Zug bewegt nur, was an einer Stelle steht. a3: bitte zurückstellen."),
    ),
    (
        Unfinished(t=0, n=1, todo="take 2 pieces from the bottom of c3.", cells=("c3",)),
        "The move is not finished: take 2 pieces from the bottom of c3.",
        "Der Zug ist noch nicht zu Ende: Felder c3.",
    ),
    (
        Unfinished(t=0, n=1, todo="take one piece off", cells=("g4",), stacks=("GGGRG",), rule="DOM-7"),
        "The move is not finished: take one piece off.",
        "Der Zug ist noch nicht zu Ende: auf g4 muss GGGRG stehen.",
    ),
    (
        Unfinished(t=0, n=1, todo="Red exchanges the pawn on a8", cells=("a8",), rule="CHE-11"),
        "The move is not finished: Red exchanges the pawn on a8.",
        (
            "Der Zug ist noch nicht zu Ende: Zuerst tauscht der Bauer seinen Platz mit einer anderen eigenen Figur, "
            "Felder a8."
        ),
    ),
    (
        Unfinished(t=0, n=1, todo="set up: …", cells=("c3", "d4", "e5"), stacks=("GR", "", "R")),
        "set up: ….",
        "Bitte aufstellen: auf c3 muss GR stehen, d4 muss leer sein und auf e5 muss R stehen.",
    ),
    (
        Unfinished(t=0, n=1, todo="set up: …", cells=("c3",), stacks=("X",), levels=(4,)),
        "set up: ….",
        "Bitte aufstellen: auf c3 muss X stehen und Säule c3 muss auf Stufe 4 stehen.",
    ),
    (
        Unfinished(t=0, n=1, todo="nothing has been moved", cells=()),
        "Not yet: nothing has been moved.",
        "Noch nicht: Es ist nichts gezogen worden; erst ziehen, dann „fertig“ melden.",
    ),
    (
        Unsure(t=0, n=1, options=(), question="Anything changed?", cells=("c3", "d4")),
        "Anything changed?",
        "Ist etwas verändert worden, das nicht sollte? Bitte prüfen: c3, d4.",
    ),
    (
        Unsure(t=0, n=1, options=("c3-d3",), question="Was c3-d3 played?"),
        "Was c3-d3 played?",
        "Wurde c3-d3 gezogen?",
    ),
    (
        Unsure(t=0, n=1, options=("c3-d3 e4-e5",), question="Each by its player?", or_one_hand=True),
        "Each by its player?",
        (
            "Wurde c3-d3 e4-e5 gezogen, jeder Zug von seinem Spieler? "
            "War es einer allein, bitte mit Nein antworten und zurückstellen."
        ),
    ),
    (
        Withdrawn(t=0, n=1, player="R", cells=("c3",)),
        "The accusation of Red is withdrawn: c3 was misread.",
        "Der Vorwurf gegen Rot ist zurückgenommen: c3 war falsch gelesen.",
    ),
    (Restored(t=0, n=1), "The table is right again.", "Das Brett stimmt wieder."),
    (
        TakenBack(t=0, n=1, moves=("c3-d3", "e4-e5"), position=RED_NEXT),
        "Taken back: c3-d3, e4-e5. Red to move.",
        "Zurückgenommen: c3-d3, e4-e5. Rot ist am Zug.",
    ),
    (
        Unsure(t=0, n=1, options=("c3-d3", "c3-d3:1", "d3-c3"), question="Which move was it?"),
        "Which move was it?",
        "Welcher Zug war es: c3-d3 oder c3-d3:1 oder d3-c3?",
    ),
    (
        Corrected(t=0, n=1, by="Ada", position=RED_NEXT),
        "Ada has set the position. Red to move.",
        "Ada hat die Stellung gesetzt. Rot ist am Zug.",
    ),
    (
        Corrected(t=0, n=1, by="Ada", move="c3-d3", position=RED_NEXT),
        "Ada rules that c3-d3 was played. Red to move.",
        "Ada entscheidet: Gezogen wurde c3-d3. Rot ist am Zug.",
    ),
    (
        Corrected(t=0, n=1, by="Ada", move="c3-d3"),
        "Ada rules that c3-d3 was played.",
        "Ada entscheidet: Gezogen wurde c3-d3.",
    ),
    (
        ViewChanged(t=0, n=1, state="dark"),
        "It is too dark to see; switch on a light.",
        "Es ist zu dunkel; bitte Licht machen.",
    ),
    (ViewChanged(t=0, n=1, state="upside-down"), "Camera: upside-down.", "Kamera: upside-down."),
    (
        SensorsChanged(t=0, n=1, state="fault", cells=("a1", "b1")),
        "The pillar sensors of a1, b1 are at fault.",
        "Die Säulensensoren von a1, b1 sind gestört.",
    ),
    (Skipped(t=0, n=1, player="Y"), "Yellow cannot move and is skipped.", "Gelb kann nicht ziehen und setzt aus."),
    (
        Repeated(t=0, n=1, times=2, position=RED_NEXT),
        "This position has now been on the table 2 times.",
        "Diese Stellung steht zum 2. Mal auf dem Brett.",
    ),
    (GameOver(t=0, n=1, winner="B", rule="DOM-9", position=OVER), "Blue wins (DOM-9).", "Blau gewinnt (DOM-9)."),
    (
        ClockChanged(t=0, n=1, state="running", player="G", players=("R", "G"), left=(595.9, 5400.0), control="90m"),
        "Clock: Red 9:55, Green 1:30:00.",
        "Uhr: Rot 9:55, Grün 1:30:00.",
    ),
    (
        ClockChanged(t=0, n=1, state="flag", player="G", players=("R", "G"), left=(5.0, 0.0), control="90m"),
        "Green has no time left.",
        "Die Zeit von Grün ist abgelaufen.",
    ),
    (
        GameOver(t=0, n=1, winner=None, rule="G-4", position=OVER),
        "The game is drawn (G-4).",
        "Die Partie ist unentschieden (G-4).",
    ),
)


BESIDES = {
    "turn": {"next"},
    "saved": set(),
    "paused": set(),
    "resumed": set(),
    "refused": {"why"},
    "offer": {"move"},
    "put-right": set(),
    "undo.restoring": set(),
}
"""Texts that belong to no event, with their placeholders."""


@pytest.mark.parametrize(("event", "english", "german"), SAID)
def test_each_event_is_said_in_each_language(event: Event, english: str, german: str) -> None:
    game = load_game("cheight" if getattr(event, "rule", "").startswith("CHE") else "domination")
    names = ENGLISH.players
    assert sentence(event, language("en", game), names) == english
    assert sentence(event, language("de", game), GERMAN.players) == german


def test_the_examples_above_cover_every_kind_of_event() -> None:
    assert {type(event) for event, _, _ in SAID} == set(KINDS.values())


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_the_same_texts_and_players(code: str) -> None:
    assert LANGUAGES[code].texts.keys() == ENGLISH.texts.keys()
    assert LANGUAGES[code].players.keys() == ENGLISH.players.keys()


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(
    "state",
    VIEW_STATES,
)
def test_every_state_of_the_view_has_words_of_its_own(code: str, state: str) -> None:
    assert sentence(ViewChanged(t=0, n=1, state=state), LANGUAGES[code]) == LANGUAGES[code].texts[f"view.{state}"]


@pytest.mark.parametrize("lang", LANGUAGES.values())
def test_a_text_names_only_fields_that_its_event_has(lang: object) -> None:
    assert isinstance(lang, type(ENGLISH))
    for key, text in lang.texts.items():
        if key.startswith(("part.", "back", "did.", "piece")):
            continue
        known = set(KINDS[key.split(".")[0]].__dataclass_fields__) if key not in BESIDES else BESIDES[key]
        known |= {"back"} if key.startswith("illegal") else set()
        assert {name for _, name, _, _ in string.Formatter().parse(text) if name} <= known, key


@pytest.mark.parametrize("tag", available_tags())
def test_german_has_a_word_for_every_player_and_every_rule_that_can_be_broken(tag: str) -> None:
    """The words are in the game's own file, except those shared by all games; none is for an unknown rule."""
    game, own = load_game(tag), translation(parse_tag(tag)[0], "de")
    german = language("de", game)
    assert set(game.players) <= set(own.players)
    assert {rule.id for rule in game.rules.values() if rule.refusal} <= set(german.rules)
    assert set(own.rules) <= set().union(*(load_game(other).rules for other in available_tags()))
    assert not set(GERMAN.rules) & set(own.rules)
    assert set(game.rules) <= set(german.titles)
    assert set(game.rules) <= set(german.explained)
    assert own.title


@pytest.mark.parametrize("tag", available_tags())
def test_what_a_variant_changes_in_a_rule_is_changed_in_german_too(tag: str) -> None:
    game, usual = load_game(tag), load_game(parse_tag(tag)[0])
    german, other = language("de", game), language("de", usual)
    changed = {name for name, rule in game.rules.items() if rule.text != usual.rules[name].text}
    assert {name for name in game.rules if german.explained[name] != other.explained[name]} == changed


def test_a_game_has_a_title_in_german() -> None:
    assert title_of("draughts", "de") == "Dame (Damespiel)"
    assert title_of("draughts") == "Draughts (checkers)"
    assert title_of("gone", "de") == "gone"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("en", "Put the red piece on c6 back on c3."),
        ("de", "Bitte den roten Stein von c6 zurück auf c3 stellen."),
    ],
)
def test_the_way_back_is_said(code: str, said: str) -> None:
    game = load_game("domination")
    event = illegal(game, game.start(), "c3-c6")
    assert sentence(event, language(code, game)).endswith(said)


def test_people_are_called_by_their_names_on_the_way_back_too() -> None:
    game = load_game("domination")
    event = illegal(game, game.start(), "c3-c6")
    assert "Put Ada's piece on c6 back on c3." in sentence(event, language("en", game), {"R": "Ada"})


@pytest.mark.parametrize(
    ("tag", "move", "english", "german"),
    [
        ("domination", "c3-d3", "Red moved a piece from c3 to d3", "Rot hat einen Stein von c3 nach d3 gezogen"),
        ("diamond:table", "-a1", "Red lowered the pillar a1", "Rot hat die Säule a1 gesenkt"),
        ("citadel", "c2-c3", "South moved a piece from c2 to c3", "Süd hat einen Stein von c2 nach c3 gezogen"),
    ],
)
def test_a_move_is_told_in_plain_words(tag: str, move: str, english: str, german: str) -> None:
    game = load_game(tag)
    position = game.start()
    for code, said in (("en", english), ("de", german)):
        lang = language(code, game)
        assert describe_move(game, position, parse_move(game, position, move), lang, lang.players) == said


def test_a_match_that_the_arbiter_ends_says_so_in_words() -> None:
    event = GameOver(t=0, n=1, winner="B", rule="arbiter", position=OVER)
    assert sentence(event) == "Blue wins (the arbiter's ruling)."
    assert sentence(event, GERMAN) == "Blau gewinnt (Entscheid des Schiedsrichters)."


def test_a_player_is_called_what_his_game_calls_him() -> None:
    event = Skipped(t=0, n=1, player="R")
    citadel = load_game("citadel")
    assert sentence(event, language("en", citadel)) == "South cannot move and is skipped."
    assert sentence(event, language("de", citadel)) == "Süd kann nicht ziehen und setzt aus."


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[players", "cannot be read"),
        (
            "[player]",
            "player is not known; write only title and the tables players, rules, titles, texts, tasks, variants.NAME",
        ),
        ("title = 3", "title must be text in quotes"),
        ("players = 3", "players must be a table"),
        ("[variants.old]\nX-1 = 3", "variants.old: X-1 must be text in quotes"),
        ("[rules]\nX-1 = 3", "rules: X-1 must be text in quotes"),
    ],
)
def test_a_faulty_file_of_words_is_named(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "x.de.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadText, match=fault) as caught:
        read_translation(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_given_names_go_before_the_languages_words() -> None:
    event = Accepted(t=0, n=1, player="B", move="c3-d3", position=RED_NEXT)
    assert sentence(event, ENGLISH, {"B": "Black"}) == "Black played c3-d3. Red to move."


def test_a_brace_in_a_text_from_outside_is_only_a_brace() -> None:
    event = Unfinished(t=0, n=1, todo="take {player} off", cells=("c3",))
    assert sentence(event) == "The move is not finished: take {player} off."


def test_a_line_break_from_outside_does_not_break_the_line() -> None:
    event = Corrected(t=0, n=1, by="Ada\nLovelace", move="c3-d3")
    assert sentence(event) == "Ada Lovelace rules that c3-d3 was played."


def test_an_unknown_language_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadText, match="no language 'xx'; write one of en de"):
        language("xx")


@pytest.mark.parametrize(
    ("text", "player"), [(RED_NEXT, "R"), (OVER, "-"), ("domination/3 4 Y hands=B", "Y"), ("", "-")]
)
def test_the_player_to_move_is_the_third_word(text: str, player: str) -> None:
    assert to_move(text) == player
