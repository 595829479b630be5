"""What tests share: the pictures that come with the repository, and those beside it where they are there."""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the program has it; read when numpy is first loaded

import cv2
import pytest
from hypothesis import HealthCheck, settings

from tools.chromium import CHROMIUM, launched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"

# On a fresh machine hypothesis first makes its table of characters, which takes seconds; slow machines are no fault.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with a browser come first: they take longest, and no worker is to be left alone with one in the end."""
    slowest = {item.path for item in items if "browser" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path not in slowest)


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """OpenCV on one thread, as at the table."""
    cv2.setNumThreads(1)


@pytest.fixture(scope="session", autouse=True)
def _any_disk() -> Iterator[None]:
    """However full and slow this machine's disk is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("companion.tape.reel.RESERVE_BYTES", 0)
        patch.setattr("companion.doctor.machine.LEAST_FREE_GB", 0.0)
        patch.setattr("companion.doctor.machine.SLOW_SYNC_MS", float("inf"))
        yield


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[Any]]]:
    """Starts programs, and kills what is left of them: a test that was given up does not wait for their end."""
    with ExitStack() as running:

        def start(words: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
            program = running.enter_context(subprocess.Popen(words, **options))
            running.callback(program.kill)
            return program

        yield start


@pytest.fixture(scope="session")
def examples():
    """The repository's own pictures."""
    return REPOSITORY / "examples"


@pytest.fixture(scope="session")
def shared():
    """The larger collection of pictures; tests that need it are skipped where it is not."""
    if not (SHARED / "photos").is_dir():
        pytest.skip("the larger collection of pictures is not here")
    return SHARED


@pytest.fixture(scope="module")
def playwright() -> "Iterator[Playwright]":
    """What starts browsers, which end with the tests of the file; skips without one."""
    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium-headless-shell, which `make test` installs as root")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - slow, and few tests look at pages

    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def launch(playwright: "Playwright") -> "Callable[..., Browser]":
    """Starts browsers (see ``tools.chromium.launched``)."""
    return partial(launched, playwright)


@pytest.fixture(scope="module")
def browser(launch: "Callable[..., Browser]") -> "Browser":
    """A browser that shows boards as pictures, for it has no WebGL."""
    return launch()
