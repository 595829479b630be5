"""`companion referee table.toml`: settings from a file, overridden by the command line."""

import json

import pytest

from companion.cli import main

pytestmark = pytest.mark.pictures


@pytest.fixture
def table(tmp_path, short):
    """Return a function that writes table.toml, with a recording as source and a store in its own folder."""

    def written(more=""):
        file = tmp_path / "table.toml"
        text = f'game = "domination"\nrecording = "{short}"\nmatch = "m.db"\njson = true\n'
        file.write_text(text + more, encoding="utf-8")
        return file

    return written


def run(*words):
    """Run `companion referee` and return its exit code."""
    return main([str(word) for word in ("referee", *words)])


def complaint(capsys, *words):
    """Run a command that fails, and return the lines on standard error."""
    assert run(*words) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    return err.splitlines()


def test_a_match_is_refereed_as_the_file_says(table, tmp_path, capsys):
    assert run(table()) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0]["event"] == "start"
    assert rows[-1]["event"] == "accepted"
    assert (tmp_path / "m.db").is_file()


def test_the_command_line_goes_before_the_file(table, tmp_path, capsys):
    file = table('start = "domination 4/R,5/G,7/8/8/8/8/6/4 R"\npanel = "none"\n')
    lines = complaint(capsys, file, "--start", "citadel", "--match", tmp_path / "other.db")
    assert len(lines) == 1
    assert "citadel" in lines[0]


def test_a_source_of_the_command_line_replaces_the_one_of_the_file(table, capsys):
    (line,) = complaint(capsys, table(), "--device", "97", "--camera", "none.toml")
    assert "none.toml: cannot be read" in line


def test_a_recording_brings_its_own_camera(table, short, capsys):
    file = table()
    text = file.read_text(encoding="utf-8").replace("recording = ", "# ")
    file.write_text(text + 'device = 97\ncamera = "none.toml"\nset = "none.toml"\nresume = true\n', encoding="utf-8")
    assert run(file, "--recording", short) == 0
    assert '"accepted"' in capsys.readouterr().out


def test_names_are_spoken(table, capsys):
    assert run(table('panel = "terminal"\nlanguage = "de"\n[names]\nR = "Ann"\n')) == 0
    err = capsys.readouterr().err
    assert "Ann ist am Zug." in err
    assert "Rot" not in err


def test_each_mistake_is_a_line_of_its_own(table, capsys):
    file = table('clock = "soon"\npanel = "loud"\nlangauge = "de"\n')
    lines = complaint(capsys, file)
    assert [line.partition(f"{file}:")[2].partition(" ")[0] for line in lines] == ["5:", "6:", "7:"]
    assert all(line.startswith("companion referee: ") for line in lines)
    assert "soon" in lines[0]
    assert "invalid choice: 'loud'" in lines[1]
    assert "did you mean language?" in lines[2]


def test_two_sources_or_none(table, tmp_path, capsys):
    (line,) = complaint(capsys, table("device = 0\n"))
    assert "--recording and --simulate stand alone" in line
    bare = tmp_path / "bare.toml"
    bare.write_text('game = "domination"\n', encoding="utf-8")
    (line,) = complaint(capsys, bare)
    assert "nothing to look at: give one of " in line


def test_a_name_for_somebody_who_does_not_play(table, capsys):
    (line,) = complaint(capsys, table('[names]\nX = "Ann"\n'))
    assert "names: there is no player 'X' in domination; the players are R, G" in line
