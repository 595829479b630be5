"""Consistency of the documentation with folders, layers, import contracts and test files."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
VISION = (ROOT / "docs" / "vision.md").read_text(encoding="utf-8")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
COUNTS = ("Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")


def words(text):
    return " ".join(text.split())


def rooms(package):
    """Return the folders and modules of a package, except those beginning with an underscore or a dot."""
    here = (ROOT / package).iterdir()
    return {path.stem for path in here if path.name[0] not in "_." and (path.is_dir() or path.suffix == ".py")}


@pytest.mark.parametrize("package", ["companion", "vision"])
def test_layers_are_those_of_the_contract(package):
    layers = next(contract["layers"] for contract in CONTRACTS if contract.get("containers") == [package])
    assert words(", ".join(layers)) in words(ARCHITECTURE)


def test_every_contract_is_counted():
    assert f"{COUNTS[len(CONTRACTS) - 6]} contracts" in ARCHITECTURE
    assert len(re.findall(r"^\d+\. ", ARCHITECTURE, re.MULTILINE)) == len(CONTRACTS)


def test_every_room_of_the_companion_has_its_row():
    table = ARCHITECTURE[ARCHITECTURE.index("| folder |") : ARCHITECTURE.index("Several cameras")]
    assert {room for room in rooms("companion") if not re.search(rf"\b{room}\b", table)} <= {"replay", "errors"}


def test_every_stage_of_vision_has_its_row_with_all_its_files():
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", VISION, re.MULTILINE))
    folders = {path.name for path in (ROOT / "vision").iterdir() if (path / "__init__.py").exists()}
    assert set(rows) == folders
    for folder, files in rows.items():
        named = set(re.findall(r"`(\w+)`", files))
        assert named <= rooms(f"vision/{folder}"), folder
        assert "a driver" in files or named == rooms(f"vision/{folder}"), folder


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:companion|vision|calibration|firmware_bridge|tests|tools|examples)/[\w/.-]+)`", text)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_whole_files_read_pictures_or_none_of_their_tests():
    """`make unit` selects tests by file, so a single test with the mark would never be run."""
    lines = [
        line.strip()
        for file in (ROOT / "tests").rglob("test_*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if "mark.pictures" in line and '"' not in line
    ]
    assert set(lines) == {
        "pytestmark = pytest.mark.pictures",
        "pytestmark = [pytest.mark.pictures, pytest.mark.slow]",
    }
