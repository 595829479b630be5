"""Splitting of sentences into clips known in advance."""

import pytest

from companion.phrases import ENGLISH, GERMAN, LANGUAGES
from companion.voice.wording import clips


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Red played c3-d3. Green to move.", ("Red played", "c3", "to", "d3", "Green to move")),
        (
            "Green: f6-f3 is not allowed (DOM-5, G-1): too far. Put it back.",
            ("Green", "f6", "to", "f3", "is not allowed", "too far", "Put it back"),
        ),
        ("Red played c3-c5:2.", ("Red played", "c3", "to", "c5", "with 2")),
        ("White played j10-a1xb2xi9.", ("White played", "j10", "to", "a1", "takes", "b2", "i9")),
        ("Red played Q*a1.", ("Red played", "from the reserve onto", "a1")),
        ("Red played *a1.", ("Red played", "from the reserve onto", "a1")),
        ("Red played e6-off.", ("Red played", "e6", "off the board")),
        ("Red played b8=c2.1.", ("Red played", "b8", "changes with", "c2")),
        ("Red played +c3.", ("Red played", "up", "c3")),
        ("Red played -c3.", ("Red played", "down", "c3")),
        ("Red played a stack (A1).", ("Red played a stack (A1)",)),
        ("", ()),
        ("…", ()),
    ],
)
def test_squares_and_signs_are_clips_of_their_own(text: str, said: tuple[str, ...]) -> None:
    assert clips(text, ENGLISH) == said


def test_signs_are_spoken_in_the_language() -> None:
    assert clips("War es c3-d3:2?", GERMAN) == ("War es", "c3", "nach", "d3", "mit 2")


def test_an_ordinal_does_not_end_a_sentence() -> None:
    text = "Diese Stellung steht zum 2. Mal auf dem Brett."
    assert clips(text, GERMAN) == ("Diese Stellung steht zum 2. Mal auf dem Brett",)


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_speaks_the_same_signs(code: str) -> None:
    assert LANGUAGES[code].signs.keys() == ENGLISH.signs.keys()
    assert LANGUAGES[code].voice
