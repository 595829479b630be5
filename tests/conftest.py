"""Shared fixtures: the example pictures of the repository, an optional larger collection, processes and browsers."""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in the program; must be set before numpy is first imported

import cv2
import pytest
from hypothesis import HealthCheck, settings

from tools.chromium import CHROMIUM, launched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"

# On a fresh machine Hypothesis first builds its character tables, which takes seconds. Slow machines are no failure.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run files that use a browser first: they take longest, so no worker should be left with one at the end."""
    slowest = {item.path for item in items if "browser" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path not in slowest)


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """Run OpenCV on one thread, as the program does during a match."""
    cv2.setNumThreads(1)


@pytest.fixture(scope="session", autouse=True)
def _any_disk() -> Iterator[None]:
    """Lift the limits on free space and write speed, so that no test depends on this machine's disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("companion.tape.recording_writer.RESERVE_BYTES", 0)
        patch.setattr("companion.doctor.machine.MIN_FREE_GB", 0.0)
        patch.setattr("companion.doctor.machine.SLOW_SYNC_MS", float("inf"))
        yield


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[Any]]]:
    """Return a function that starts a program like ``Popen``; programs still running after the test are killed."""
    with ExitStack() as running:

        def start(words: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
            program = running.enter_context(subprocess.Popen(words, **options))
            running.callback(program.kill)
            return program

        yield start


@pytest.fixture(scope="session")
def examples():
    """Return the folder of the repository's own example pictures."""
    return REPOSITORY / "examples"


@pytest.fixture(scope="session")
def shared():
    """Return the folder of the larger picture collection; skip the test if it is not present."""
    if not (SHARED / "photos").is_dir():
        pytest.skip("the larger collection of pictures is not here")
    return SHARED


@pytest.fixture(scope="module")
def playwright() -> "Iterator[Playwright]":
    """Yield a Playwright driver for the tests of one file; skip the test if Chromium is not installed."""
    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium-headless-shell, which `make test` installs as root")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - slow, and few tests look at pages

    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def launch(playwright: "Playwright") -> "Callable[..., Browser]":
    """Return a function that launches browsers (see ``tools.chromium.launched``)."""
    return partial(launched, playwright)


@pytest.fixture(scope="module")
def browser(launch: "Callable[..., Browser]") -> "Browser":
    """Launch a browser without WebGL, so that the pages show boards as pictures."""
    return launch()
