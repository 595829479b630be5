"""The arbiter's token of a table that starts automatically."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from companion.cli import main
from companion.errors import CompanionError
from companion.web.feed import Feed
from companion.web.page import Page
from companion.web.token import FILE, kept_token, read_token
from tests.hall.test_hub import START


def test_a_token_stays_the_same_and_is_its_owners_alone(tmp_path: Path) -> None:
    token = kept_token(tmp_path)
    assert kept_token(tmp_path) == read_token(tmp_path) == token
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert kept_token(tmp_path.parent) != token


@pytest.mark.parametrize("text", ["", "short", "with a space in it", "x" * 65, "\x00" * 20])
def test_what_is_no_token_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(CompanionError, match="is no token"):
        kept_token(tmp_path)


def test_the_command_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    assert main(["token", "--state", str(tmp_path)]) == 2
    assert "there is no token yet" in capsys.readouterr().err
    token = kept_token(tmp_path)
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    assert main(["token"]) == 0
    assert capsys.readouterr().out == f"{token}\n"


def test_a_kept_token_stands_in_no_log(tmp_path: Path) -> None:
    for token in (kept_token(tmp_path), ""):
        page = Page(("127.0.0.1", 0), Feed(START), token=token)
        page.close()
        assert (page.token in page.notice) == (not token)
