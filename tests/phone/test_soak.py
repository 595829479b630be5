"""A short version of the phone's soak test: a real browser whose camera plays the example recording."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Playwright

from tools.phone_table import Profile
from tools.soak_phone import Breaks, check_breaks

pytestmark = pytest.mark.slow


@pytest.fixture
def profile(examples: Path) -> Profile:
    folder = examples / "domination-1"
    return Profile(folder, folder / "camera.toml", folder / "set.toml")


@pytest.mark.soak
def test_a_reload_a_cut_and_forged_messages_lose_nothing(
    playwright: Playwright, profile: Profile, tmp_path: Path
) -> None:
    found = check_breaks(playwright, profile, tmp_path, Breaks(reloads=1, cuts=1, forged=10, acts=1))
    assert found.is_right, found.text
