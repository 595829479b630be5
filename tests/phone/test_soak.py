"""The phone's soak, in short: a real browser whose camera plays the example recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Playwright, sync_playwright

from tools.chromium import CHROMIUM
from tools.phone_table import Profile
from tools.soak_phone import Breaks, Found, broken_off, moved, two

pytestmark = pytest.mark.slow


@pytest.fixture
def playwright() -> Iterator[Playwright]:
    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium, which `make test` installs as root")
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture
def profile(examples: Path) -> Profile:
    folder = examples / "domination-1"
    return Profile(folder, folder / "camera.toml", folder / "set.toml")


@pytest.mark.parametrize("part", [moved, two], ids=lambda part: part.__name__)
def test_a_pushed_phone_is_moved_and_two_are_two_cameras(
    playwright: Playwright, profile: Profile, tmp_path: Path, part: Callable[..., Found]
) -> None:
    found = part(playwright, profile, tmp_path)
    assert found.is_right, found.text


def test_reloads_cuts_and_forged_messages_lose_nothing(
    playwright: Playwright, profile: Profile, tmp_path: Path
) -> None:
    found = broken_off(playwright, profile, tmp_path, Breaks(reloads=3, cuts=2, forged=100, acts=2))
    assert found.is_right, found.text
