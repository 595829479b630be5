"""The lock files match pyproject.toml: every requirement is pinned with hashes, for every Python and machine."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PIN = re.compile(
    r"^([\w.-]+)==(\S+)(?: ; ([^\\\n]+?))? \\$((?:\n {4}--hash=sha256:[0-9a-f]{64}(?: \\)?)+)", re.MULTILINE
)

MACHINES = [
    {"python_version": version, "python_full_version": f"{version}.1", "platform_machine": machine}
    for version in ("3.11", "3.12", "3.13")
    for machine in ("x86_64", "aarch64")
]
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "platform_python_implementation": "CPython"}


def pins(lock: str, machine: dict[str, str]) -> dict[str, str]:
    """Return package → its version on a machine."""
    found = PIN.findall((ROOT / "locks" / lock).read_text(encoding="ascii"))
    there = [
        (name, version, Requirement(f"x ; {marker}").marker if marker else None) for name, version, marker, _ in found
    ]
    return {name: version for name, version, marker in there if marker is None or marker.evaluate({**LINUX, **machine})}


def wanted(lock: str) -> list[Requirement]:
    """Return the requirements of pyproject.toml that a lock file must satisfy."""
    extras = PROJECT["project"]["optional-dependencies"]
    texts = [*PROJECT["project"]["dependencies"], *extras["build"], *(extras["dev"] if lock == "dev.txt" else ())]
    return [Requirement(text) for text in texts]


@pytest.mark.parametrize("lock", ["runtime.txt", "dev.txt"])
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: "-".join(machine.values()))
def test_every_requirement_is_pinned_within_its_bounds(lock: str, machine: dict[str, str]) -> None:
    pinned = pins(lock, machine)
    for requirement in wanted(lock):
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement} is not in locks/{lock}: run `make lock`"
        assert requirement.specifier.contains(version), f"{requirement}, but {version} is locked: run `make lock`"


@pytest.mark.parametrize("lock", ["runtime.txt", "dev.txt"])
def test_nothing_in_a_lock_is_without_a_hash(lock: str) -> None:
    text = (ROOT / "locks" / lock).read_text(encoding="ascii")
    assert PIN.sub("", text).strip() == ""


def test_both_locks_agree() -> None:
    for machine in MACHINES:
        assert pins("runtime.txt", machine).items() <= pins("dev.txt", machine).items()


def test_what_builds_the_package_is_locked_too() -> None:
    built = {Requirement(text).name for text in PROJECT["build-system"]["requires"]}
    assert built <= {Requirement(text).name for text in PROJECT["project"]["optional-dependencies"]["build"]}
