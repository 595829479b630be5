"""Restrictions of the systemd service on a Raspberry Pi."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

UNIT = Path(__file__).parent.parent.parent / "deploy" / "stacking-games-referee.service"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_the_service_has_little_that_it_does_not_need() -> None:
    words = ["systemd-analyze", "security", "--offline=yes", "--threshold=30", "--no-pager", str(UNIT)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-500:]


def test_an_export_may_give_way_to_the_referee() -> None:
    """The unit refuses the calls of @resources except the one used by ``nice``, in the order that systemd reads."""
    filters = [line for line in UNIT.read_text(encoding="utf-8").splitlines() if line.startswith("SystemCallFilter=")]
    assert filters.index("SystemCallFilter=setpriority") > filters.index("SystemCallFilter=~@privileged @resources")
