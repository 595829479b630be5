"""The scores of folders of photographs."""

from __future__ import annotations

import math

from tools.photographs import Misread, Shot, row


def test_a_picture_that_cannot_be_read_counts_as_not_exact() -> None:
    right = Shot(64, 60, (), 12.0, 4.0)
    misread = Shot(64, 60, (Misread("b.jpg", "d4", "Bb", "1B", 0.7),), 14.0, 5.0)
    unread = Shot(0, 0, (), math.nan, math.nan, "c.jpg: board: not found")

    folder, exact, wrong, certain, reading, verification = row("citadel", [right, misread, unread])[2:-2].split(" | ")

    assert folder == "citadel"
    assert exact.startswith("1 of 3 ")
    assert (wrong, certain) == ("1 of 128", "0 of 120")
    assert (reading, verification) == ("13 / 14", "4 / 5")


def test_a_folder_of_which_nothing_is_read_has_no_times() -> None:
    unread = Shot(0, 0, (), math.nan, math.nan, "a.jpg: board: not found")

    assert row("citadel", [unread]).endswith("| 0 of 0 | 0 of 0 | nan / nan | nan / nan |")
