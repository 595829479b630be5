"""The default location of the store."""

from pathlib import Path

import pytest

from companion.errors import StoreError
from companion.recorder.place import default_store, open_store

HOME = {"HOME": "/home/ada"}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (HOME, "/home/ada/.local/share/stacking-games-referee/matches.db"),
        (HOME | {"XDG_DATA_HOME": ""}, "/home/ada/.local/share/stacking-games-referee/matches.db"),
        (HOME | {"XDG_DATA_HOME": "data"}, "/home/ada/.local/share/stacking-games-referee/matches.db"),
        (HOME | {"XDG_DATA_HOME": "/data"}, "/data/stacking-games-referee/matches.db"),
        (HOME | {"XDG_DATA_HOME": "/data", "STATE_DIRECTORY": "/var/lib/referee"}, "/var/lib/referee/matches.db"),
        (HOME | {"STATE_DIRECTORY": "/var/lib/a:/var/lib/b"}, "/var/lib/a/matches.db"),
        (HOME | {"STATE_DIRECTORY": ""}, "/home/ada/.local/share/stacking-games-referee/matches.db"),
        ({"XDG_DATA_HOME": "/data"}, "/data/stacking-games-referee/matches.db"),
    ],
)
def test_the_default_follows_the_platform(environment: dict[str, str], expected: str) -> None:
    assert default_store(environment) == Path(expected)


@pytest.mark.parametrize("environment", [{}, {"HOME": ""}, {"HOME": "ada", "XDG_DATA_HOME": "data"}])
def test_without_any_home_the_options_are_named(environment: dict[str, str]) -> None:
    with pytest.raises(StoreError, match="give --match FILE or --store FILE"):
        default_store(environment)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that serves as the user's data folder."""
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def test_the_default_stores_folder_is_made_for_its_owner_only(data: Path) -> None:
    with open_store(None) as store:
        assert store.path == data / "stacking-games-referee" / "matches.db"
    assert (data / "stacking-games-referee").stat().st_mode & 0o777 == 0o700


def test_reading_makes_no_folder(data: Path) -> None:
    with pytest.raises(StoreError, match="no match store yet; play a match, or give --store FILE"):
        open_store(None, read_only=True)
    assert list(data.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(data: Path) -> None:
    (data / "stacking-games-referee").touch()
    with pytest.raises(StoreError, match=r"stacking-games-referee: cannot make this folder \(File exists\)"):
        open_store(None)


def test_a_given_path_goes_before_the_default(data: Path) -> None:
    with open_store(data / "mine.db") as store:
        assert store.path == data / "mine.db"
    assert [path.name for path in data.iterdir()] == ["mine.db"]
