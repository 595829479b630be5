"""The voice panel: sentences are spoken by the real espeak-ng and aplay, into a file."""

import threading
import time
import wave
from collections.abc import Callable
from pathlib import Path

import pytest

from companion.cli import main
from companion.events import Accepted, Start
from companion.games import available_games, load_game
from companion.panel.controller import PanelController
from companion.phrases import ENGLISH, GERMAN, LANGUAGES, sentence
from companion.voice.library import Library
from companion.voice.panel import VoicePanel
from companion.voice.repertoire import repertoire
from companion.voice.wording import clips

START = Start(t=0.0, n=1, position="g b R")
MOVED = Accepted(t=1.0, n=2, player="R", move="c3-d3", position="g b G")
PATIENCE_S = 60.0

Heard = Callable[[], int]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "clips", "en-gb")


def voice_desk(library: Library) -> PanelController:
    """Return a panel controller with a voice panel."""
    return PanelController(VoicePanel(library, ENGLISH), time.monotonic)


def size(file: Path) -> int:
    """Return the number of bytes of sound in a file."""
    with wave.open(str(file)) as sound:
        return sound.getnframes() * sound.getsampwidth()


def wait_for(heard: Heard, least: int) -> None:
    """Wait until at least so many bytes of sound have been output."""
    until = time.monotonic() + PATIENCE_S
    while heard() < least and time.monotonic() < until:
        time.sleep(0.01)
    assert heard() >= least


def test_a_sentence_is_spoken_from_clips_made_ahead_without_making_any(
    library: Library, heard_bytes: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = clips("The match begins. Red to move.", ENGLISH)
    library.make_all(said)
    monkeypatch.setattr("companion.voice.library.PROGRAM", "no-such-program")
    announcer = voice_desk(library)
    announcer.tell(START)
    wait_for(heard_bytes, sum(size(library.file(clip)) for clip in said))
    announcer.close()


def test_what_was_not_made_ahead_is_made_when_needed_and_not_kept(library: Library, heard_bytes: Heard) -> None:
    announcer = voice_desk(library)
    announcer.tell(START)
    wait_for(heard_bytes, 20_000)
    announcer.close()
    assert not library.folder.exists()


def test_where_nothing_can_be_made_it_is_silent_and_nobody_waits(
    library: Library, heard_bytes: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    announcer = voice_desk(library)
    for event in (START, MOVED) * 20:
        announcer.tell(event)
    announcer.close()
    assert heard_bytes() == 0


def test_a_machine_without_sound_is_no_trouble(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.make_all(clips("The match begins. Red to move.", ENGLISH))
    monkeypatch.setattr("companion.voice.speaker.PROGRAM", "no-such-program")
    announcer = voice_desk(library)
    announcer.tell(START)
    announcer.tell(MOVED)
    announcer.close()


def test_closing_leaves_no_thread(library: Library) -> None:
    before = set(threading.enumerate())
    announcer = voice_desk(library)
    announcer.close()
    announcer.close()
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("name", [info.name for info in available_games()])
@pytest.mark.parametrize("code", LANGUAGES)
def test_a_match_of_plain_moves_needs_no_other_clips(name: str, code: str) -> None:
    lang, game = LANGUAGES[code], load_game(name)
    known = set(repertoire(game, lang, {}))
    position = f"{name} - {game.players[-1]}"
    for cell in game.layout.cells:
        moved = Accepted(t=0, n=1, player=game.players[0], move=f"a1-{cell}", position=position)
        assert set(clips(sentence(moved, lang), lang)) <= known


def test_the_command_makes_the_clips_of_a_game_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    monkeypatch.setattr("companion.commands.voice.repertoire", lambda *_: ("eins", "zwei"))
    table = tmp_path / "table.toml"
    table.write_text('game = "diamond"\nlanguage = "de"\ndevice = 0\n', encoding="utf-8")
    assert main(["voice", str(table)]) == 0
    assert capsys.readouterr().out == f"2 clips for diamond in {tmp_path / 'voice'}; 2 of them are new\n"
    assert Library(tmp_path / "voice", GERMAN.voice).file("eins").is_file()
    assert main(["voice", "diamond", "--language", "de"]) == 0
    assert "0 of them are new" in capsys.readouterr().out
