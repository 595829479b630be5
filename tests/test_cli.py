"""`companion` itself: help, version, and mistyped commands."""

import pytest

import companion
from companion.cli import COMMANDS, main
from companion.games import available_games


def left(*words: str) -> int:
    """Return the exit code, however the program ends."""
    try:
        return main(words)
    except SystemExit as ended:
        return int(ended.code or 0)


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert left() == 0
    bare, err = capsys.readouterr()
    assert left("--help") == 0
    assert (bare, err) == (capsys.readouterr().out, "")
    assert [line.split()[0] for line in bare.splitlines() if line.startswith("    ") and line[4] != " "] == [*COMMANDS]


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert left("--version") == 0
    assert capsys.readouterr().out == f"companion {companion.__version__}\n"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("verfy",), "companion: there is no command 'verfy'; did you mean verify? (see companion --help)"),
        (("\x1b[2J",), "companion: there is no command '\\x1b[2J' (see companion --help)"),
        (
            ("referee", "dominaton"),
            "companion referee: there is no game 'dominaton'; did you mean domination or diamond?",
        ),
        (
            ("demo", "foo"),
            f"companion demo: there is no game 'foo'; there are {', '.join(info.name for info in available_games())}",
        ),
        (
            ("demo", "--plise", "3"),
            "companion demo: unrecognized arguments: --plise; did you mean --plies? (see companion demo --help)",
        ),
        (
            ("calibrate", "pieces", "x", "y", "--camera", "z", "-o", "o", "--wide"),
            "companion calibrate pieces: unrecognized arguments: --wide (see companion calibrate pieces --help)",
        ),
    ],
)
def test_what_is_mistyped_is_told_the_nearest(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], complaint: str
) -> None:
    assert left(*words) == 2
    assert capsys.readouterr() == ("", f"{complaint}\n")


def test_a_fault_of_the_program_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(_: object) -> int:
        raise IndexError("list index\nout of range")

    monkeypatch.setattr("companion.commands.games.run", run)
    assert left("games") == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(
        "companion games: a fault of this program, please report it: IndexError in test_cli.py, line "
    )
