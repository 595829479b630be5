"""`companion setup`: the page, and the transition to the match."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from companion.cli import main
from companion.commands.options.archive import archive_of
from companion.commands.options.table_page import HANDOVER_VARIABLE
from companion.commands.options.web import serving_page

pytestmark = pytest.mark.pictures


def test_the_command_says_where_the_page_is(tmp_path: Path, started: Callable[..., subprocess.Popen[str]]) -> None:
    command = [sys.executable, "-m", "companion.cli", "setup", "domination", "--simulate", "--web", "127.0.0.1:0"]
    process = started([*command, "-o", str(tmp_path)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("set up the table at http://127.0.0.1:")


def test_the_command_ends_at_an_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_s: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("companion.commands.options.web.time", SimpleNamespace(sleep=interrupted))
    words = ["setup", "domination", "--simulate", "--web", "127.0.0.1:0", "--panel", "none"]
    assert main([*words, "-o", str(tmp_path)]) == 0


def test_people_and_phones_stay_when_the_match_takes_the_place_of_the_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started = list[Mapping[str, str]]()
    monkeypatch.setattr("companion.commands.setup.wait_for_interrupt", lambda _: True)
    monkeypatch.setattr("companion.commands.setup.os.execve", lambda _path, _words, env: started.append(env))
    assert main(["setup", "domination", "--phone", "--web", "127.0.0.1:0", "--panel", "none", "-o", str(tmp_path)]) == 0
    said = capsys.readouterr().err
    token = started[0][HANDOVER_VARIABLE]
    assert f"setup#token={token}" in said
    monkeypatch.setenv(HANDOVER_VARIABLE, token)
    monkeypatch.setattr("companion.commands.options.table_page.state_folder", lambda _: None)
    with serving_page(
        ("127.0.0.1", 0), "domination", archive_of(tmp_path / "m.db"), lingers=False, phones=1
    ) as table_page:
        assert table_page is not None
        assert table_page.page.token == token
    code = said.partition("code=")[2].split()[0]
    assert f"#n=1&code={code}" in capsys.readouterr().err
    assert HANDOVER_VARIABLE not in os.environ


def test_a_kit_whose_pillars_cannot_stand_as_the_game_begins_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["setup", "diamond", "--simulate", "--web", "127.0.0.1:0"]) == 2
    assert "diamond:table" in capsys.readouterr().err
