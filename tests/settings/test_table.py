"""``table.toml``: its keys, and the report of all mistakes at once, each with its line."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from calibration.errors import ProfileError
from companion.cli import build_parser
from companion.errors import BadText
from companion.panel.pins import Pins
from companion.settings.keys import GAME, NAMES, OPTIONS, PINS, Kind
from companion.settings.lines import key_lines
from companion.settings.table import BadSettings, Settings, read_settings

PAGE = Path(__file__).parents[2] / "docs" / "table.md"


def anything_goes(words: tuple[str, ...]) -> None:
    """Accept any options."""


def read(tmp_path: Path, text: str) -> Settings:
    """Write settings and read them."""
    file = tmp_path / "table.toml"
    file.write_text(text, encoding="utf-8")
    return read_settings(file, anything_goes)


def mistakes(tmp_path: Path, text: str) -> list[str]:
    """Return the mistakes reported for settings, without the file's name."""
    with pytest.raises(BadSettings) as caught:
        read(tmp_path, text)
    return [line.removeprefix(f"{tmp_path / 'table.toml'}:") for line in str(caught.value).splitlines()]


def options() -> dict[str, bool]:
    """Return every long option of `companion referee`, and whether it takes a value."""
    (adders,) = build_parser("referee")._subparsers._group_actions
    actions = adders.choices["referee"]._option_string_actions
    names = {name.removeprefix("--"): action.nargs != 0 for name, action in actions.items() if name.startswith("--")}
    return {name: takes for name, takes in names.items() if name != "help" and not name.startswith("no-")}


def test_every_option_of_the_referee_is_a_key_and_nothing_else_is() -> None:
    assert {key.name for key in OPTIONS} == set(options())


def test_keys_that_take_no_value_are_those_of_flags() -> None:
    flags = {name for name, takes_value in options().items() if not takes_value}
    assert {key.name for key in OPTIONS if key.kind is Kind.FLAG} == flags


def test_the_page_shows_every_key(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    shown = re.sub(r"^# (\S+ = )", r"\1", example, flags=re.MULTILINE)
    keys = {path[-1] for path in key_lines(shown)}
    assert keys >= {GAME, NAMES, PINS, *(key.name for key in OPTIONS), *(field.name for field in fields(Pins))}
    assert keys - {GAME, NAMES, PINS, *(key.name for key in OPTIONS), *(field.name for field in fields(Pins))} == {
        "R",
        "G",
    }
    for text in (example, shown):
        assert read(tmp_path, text).pins == Pins()


def test_the_words_are_those_of_the_command_line(tmp_path: Path) -> None:
    text = 'game = "domination/3"\nkit = "my.toml"\ncamera = "c.toml"\ndevice = 0\nresume = true\njson = false\n'
    words = (
        "domination/3",
        f"--kit={tmp_path / 'my.toml'}",
        f"--camera={tmp_path / 'c.toml'}",
        "--device=0",
        "--resume",
    )
    assert read(tmp_path, text).words == words


def test_an_absolute_file_and_the_name_of_a_kit_stay_as_they_are(tmp_path: Path) -> None:
    text = 'game = "citadel"\nkit = "citadel"\ncamera = "/etc/c.toml"\n'
    assert read(tmp_path, text).words == ("citadel", "--kit=citadel", "--camera=/etc/c.toml")
    assert read(tmp_path, 'game = "citadel"\ncamera = "auto"\n').words == ("citadel", "--camera=auto")


def test_several_cameras_are_the_same_option_again(tmp_path: Path) -> None:
    text = 'game = "g"\ncamera = ["l.toml", "r.toml"]\ndevice = [0, "/dev/video2"]\n'
    words = (f"--camera={tmp_path / 'l.toml'}", f"--camera={tmp_path / 'r.toml'}", "--device=0", "--device=/dev/video2")
    assert read(tmp_path, text).words == ("g", *words)
    (line,) = mistakes(tmp_path, 'game = "g"\ndevice = ["rtsp://eye:s3cret@camera/live", [1]]\n')
    assert "'rtsp://camera/live'" in line
    assert line.startswith("2: device must be a camera's number")


def test_names_and_pins(tmp_path: Path) -> None:
    settings = read(tmp_path, 'game = "g"\n[names]\nR = "Ann"\n[pins]\nplayers = [20, 21]\nred = 7\n')
    assert settings.names == {"R": "Ann"}
    assert settings.pins == Pins(red=7, players=(20, 21))
    assert read(tmp_path, 'game = "g"').pins is None


def test_all_mistakes_are_said_at_once_each_with_its_line(tmp_path: Path) -> None:
    text = """
camrea = "c.toml"
resume = "yes"
device = true

[names]
R = 7

[pins]
reed = 17
blue = "22"
players = 5
"""
    assert mistakes(tmp_path, text) == [
        '1: game is missing; write game = "domination"',
        "2: camrea is not known; did you mean camera?",
        "3: resume must be true or false, got 'yes'",
        "4: device must be a camera's number, or its path or address in quotes, or several: [0, 2], got True",
        "7: R must be a name in quotes, got 7",
        "10: reed is not known; did you mean red?",
        "11: blue must be a GPIO number, got '22'",
        "12: players must be GPIO numbers, such as [5, 6], got 5",
    ]


def test_pins_that_are_not_for_us_are_named(tmp_path: Path) -> None:
    assert mistakes(tmp_path, 'game = "g"\n[pins]\nred = 3\n') == [
        "2: panel pin 3 belongs to the I2C bus; write one of 4-13 or 16-27"
    ]


def test_a_name_that_is_like_none_is_told_which_there_are(tmp_path: Path) -> None:
    (line,) = mistakes(tmp_path, 'game = "g"\nxyzzy = 1\n')
    assert line.startswith("2: xyzzy is not known; known are game, kit, ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("game = 5", "1: game must be text"),
        ('game = "g"\npins = 5', "2: pins must be a table"),
        ('game = "g"\nnames = "Ann"', "2: names must be a table"),
        ('game = "g"\n[names]\nR = "A\\u0000"', "3: R must be a name in quotes"),
        ('game = "g"\n[names]\nR = "' + "A" * 101 + '"', "3: R must be a name in quotes"),
        ('game = "g"\nset = "a\\u0000"', "2: set must be"),
        ('game = "g"\ncamera = 5', "2: camera must be a file or folder in quotes, or several"),
    ],
)
def test_a_value_of_another_kind(tmp_path: Path, text: str, words: str) -> None:
    (line,) = mistakes(tmp_path, text)
    assert line.startswith(words)


def test_what_the_command_would_not_take_is_said_with_the_line_of_its_key(tmp_path: Path) -> None:
    file = tmp_path / "table.toml"
    file.write_text('game = "g"\n\nclock = "soon"\npanel = "none"\n', encoding="utf-8")

    def check(words: tuple[str, ...]) -> None:
        if any("soon" in word for word in words):
            raise BadText("argument --clock: 'soon' is no time control")

    with pytest.raises(BadSettings, match=r"table.toml:3: 'soon' is no time control$"):
        read_settings(file, check)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b'game = "g\n', "is not TOML"), (b"\xff", "is not UTF-8"), (b"game = 1\ngame = 2\n", "is not TOML")],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "table.toml"
    file.write_bytes(content)
    with pytest.raises(ProfileError, match=words):
        read_settings(file, anything_goes)
    with pytest.raises(ProfileError, match="cannot be read"):
        read_settings(tmp_path / "none.toml", anything_goes)


def test_lines_of_keys() -> None:
    text = 'a = 1\n# b = 2\n[ t ] # c\n"d" = 3\n  e=4\n[[u]]\ne = "x = y"\n'
    assert key_lines(text) == {("a",): 1, ("t",): 3, ("t", "d"): 4, ("t", "e"): 5, ("u",): 6, ("u", "e"): 7}


def test_two_cameras_are_lists(tmp_path: Path) -> None:
    text = 'game = "domination"\ndevice = [0, "/dev/video2"]\npicamera = 1\ncamera = ["a.toml", "b.toml", "c.toml"]\n'
    words = read(tmp_path, text).words
    assert words[1:4] == tuple(f"--camera={tmp_path / name}" for name in ("a.toml", "b.toml", "c.toml"))
    assert words[4:] == ("--device=0", "--device=/dev/video2", "--picamera=1")
    assert mistakes(tmp_path, 'game = "domination"\ndevice = []\npicamera = ["one"]\n') == [
        "2: device must be a camera's number, or its path or address in quotes, or several: [0, 2], got []",
        "3: picamera must be a camera module's number, or several: [0, 1], got ['one']",
    ]
