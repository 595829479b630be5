"""Lists installed packages: versions, licences, and known vulnerabilities.  ``make audit``."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

LOCK = Path(__file__).parent.parent / "locks" / "dev.txt"
LONGEST = 40
"""Number of characters of a licence to show: some packages put the whole text there."""


def locked(lock: Path) -> list[Requirement]:
    """The pinned requirements of a lock file that apply here."""
    lines = lock.read_text(encoding="ascii").replace("\\\n", " ").splitlines()
    pinned = [Requirement(line.split("--hash")[0]) for line in lines if line and not line.startswith(("#", " "))]
    return [each for each in pinned if each.marker is None or each.marker.evaluate()]


def licence(name: str) -> str:
    """A package's licence: its expression, its classifiers, or the first line of its text."""
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return "not installed"
    classed = [each.rpartition(" :: ")[2] for each in told.get_all("Classifier", []) if each.startswith("License ::")]
    text = told.get("License-Expression") or ", ".join(classed) or (told.get("License") or "").strip()
    return (text.splitlines() or ["not said"])[0][:LONGEST]


def report() -> str:
    """pip-audit's report on the locked packages, as JSON.  Raises RuntimeError when it fails."""
    words = [sys.executable, "-m", "pip_audit", "--requirement", str(LOCK), "--disable-pip", "--require-hashes"]
    done = subprocess.run([*words, "--format", "json", "--progress-spinner", "off"], capture_output=True, text=True)  # noqa: S603, PLW1510 — our own words; 1 means that there are holes
    if not done.stdout.strip():
        raise RuntimeError((done.stderr.strip().splitlines() or [f"pip-audit ended with {done.returncode}"])[-1])
    return done.stdout


def known_holes(text: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """From a report: package, version and id of each known vulnerability; and why others could not be looked up.

    Raises RuntimeError when it is not a report.
    """
    try:
        rows: list[dict[str, Any]] = json.loads(text)["dependencies"]
    except (ValueError, KeyError, TypeError):
        raise RuntimeError("pip-audit's report cannot be read") from None
    found = [(row["name"], row.get("version", ""), hole["id"]) for row in rows for hole in row.get("vulns", ())]
    return found, [row["skip_reason"] for row in rows if "skip_reason" in row]


def main() -> int:
    """Print the list; exit code 1 if vulnerabilities are known, 2 if some packages could not be looked up."""
    pinned = locked(LOCK)
    for each in pinned:
        print(f"{each.name:<20} {str(each.specifier).removeprefix('=='):<18} {licence(each.name)}")
    try:
        found, skipped = known_holes(report())
    except RuntimeError as error:
        print(f"known holes: could not be looked up ({error})")
        return 2
    for name, version, number in found:
        print(f"hole in {name} {version}: {number}")
    if skipped:
        print(f"could not be looked up: {len(skipped)} of {len(pinned)} packages ({skipped[0]})")
    print(f"known holes of {len(pinned) - len(skipped)} packages: {len(found)}")
    return 1 if found else 2 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
