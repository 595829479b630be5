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
MAX_LICENCE_CHARS = 40
"""Maximum number of characters of a licence to print: some packages put the full text there."""


def locked_requirements(lock: Path) -> list[Requirement]:
    """The pinned requirements of a lock file whose environment markers match this machine."""
    lines = lock.read_text(encoding="ascii").replace("\\\n", " ").splitlines()
    pinned = [Requirement(line.split("--hash")[0]) for line in lines if line and not line.startswith(("#", " "))]
    return [each for each in pinned if each.marker is None or each.marker.evaluate()]


def licence(name: str) -> str:
    """A package's licence: its SPDX expression, its classifiers, or the first line of its licence text."""
    try:
        info = metadata(name)
    except PackageNotFoundError:
        return "not installed"
    classifiers = [
        each.rpartition(" :: ")[2] for each in info.get_all("Classifier", []) if each.startswith("License ::")
    ]
    text = info.get("License-Expression") or ", ".join(classifiers) or (info.get("License") or "").strip()
    return (text.splitlines() or ["not said"])[0][:MAX_LICENCE_CHARS]


def audit_report() -> str:
    """pip-audit's report on the locked packages, as JSON.  Raises RuntimeError when it fails."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(LOCK), "--disable-pip", "--require-hashes"]
    result = subprocess.run([*command, "--format", "json", "--progress-spinner", "off"], capture_output=True, text=True)  # noqa: S603, PLW1510 — a fixed command; exit code 1 means that vulnerabilities were found
    if not result.stdout.strip():
        raise RuntimeError((result.stderr.strip().splitlines() or [f"pip-audit ended with {result.returncode}"])[-1])
    return result.stdout


def known_vulnerabilities(text: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Parse a report: package, version and id of each vulnerability, and the reasons for skipped packages.

    Raises RuntimeError if ``text`` is not a report.
    """
    try:
        rows: list[dict[str, Any]] = json.loads(text)["dependencies"]
    except (ValueError, KeyError, TypeError):
        raise RuntimeError("pip-audit's report cannot be read") from None
    vulnerabilities = [
        (row["name"], row.get("version", ""), vulnerability["id"])
        for row in rows
        for vulnerability in row.get("vulns", ())
    ]
    return vulnerabilities, [row["skip_reason"] for row in rows if "skip_reason" in row]


def main() -> int:
    """Print the list; return 1 if vulnerabilities are known, 2 if some packages could not be looked up."""
    pinned = locked_requirements(LOCK)
    for each in pinned:
        print(f"{each.name:<20} {str(each.specifier).removeprefix('=='):<18} {licence(each.name)}")
    try:
        vulnerabilities, skipped = known_vulnerabilities(audit_report())
    except RuntimeError as error:
        print(f"known holes: could not be looked up ({error})")
        return 2
    for name, version, number in vulnerabilities:
        print(f"hole in {name} {version}: {number}")
    if skipped:
        print(f"could not be looked up: {len(skipped)} of {len(pinned)} packages ({skipped[0]})")
    print(f"known holes of {len(pinned) - len(skipped)} packages: {len(vulnerabilities)}")
    return 1 if vulnerabilities else 2 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
