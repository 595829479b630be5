"""`companion demo --web`: the page of a table with pictures."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.cli import main
from tests.web.conftest import WAIT_S, Client

pytestmark = pytest.mark.pictures

NOTICE = re.compile(r"page: http://127\.0\.0\.1:(\d+)/ .*#token=(\S+)")


@pytest.fixture
def demo(tmp_path: Path, started: Callable[..., subprocess.Popen[str]]) -> tuple[Client, str]:
    """Start a demonstration with a page; return an HTTP client and the arbiter's token."""
    command = [sys.executable, "-m", "companion.cli", "demo", "--fast", "--json", "--web", "127.0.0.1:0"]
    process = started(
        [*command, "--match", str(tmp_path / "demo.db")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    found = NOTICE.search(process.stderr.readline())
    assert found is not None
    return Client(int(found[1])), found[2]


def test_a_demonstration_is_watched_and_paused(demo: tuple[Client, str]) -> None:
    client, token = demo
    until = time.monotonic() + WAIT_S
    while client.ask("GET", "/camera.jpg")[0] != 200:
        assert time.monotonic() < until
        time.sleep(0.05)
    picture = cv2.imdecode(np.frombuffer(client.ask("GET", "/camera.jpg")[2], np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    assert picture.shape == (720, 1280, 3)
    assert client.order("pause", token)[0] == 200
    assert client.state()["mode"] == "paused"
    assert client.state()["game"]["tag"] == "domination"


def test_an_address_in_use_is_one_line(tmp_path: Path, stranger: Client, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["demo", "--fast", "--web", f"127.0.0.1:{stranger.port}"]
    assert main([*words, "--match", str(tmp_path / "demo.db"), "--panel", "none"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert f"--web 127.0.0.1:{stranger.port}: cannot listen there" in err
