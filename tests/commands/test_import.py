"""`companion import`: exported matches can be read back."""

import io
import json
from pathlib import Path

import pytest

from companion.cli import main
from companion.recorder.store import Store
from companion.records.record import load_record, save_record
from tests.records.conftest import played

RECORD = played("domination", plies=10, names=("Ada </script>", "Émile"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.mark.parametrize("suffix", [".txt", ".json", ".TXT"])
def test_what_was_exported_is_imported_as_the_same_match(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    with Store.open(path) as store:
        save_record(store, RECORD)
    file = tmp_path / f"match{suffix}"
    assert main(["export", "last", "--store", str(path), "-o", str(file)]) == 0
    assert main(["import", str(file), "--store", str(path)]) == 0
    assert capsys.readouterr().out == f"match 2: {len(RECORD.events)} events\n"
    assert main(["verify", "--store", str(path)]) == 0
    with Store.open(path) as store:
        assert load_record(store, store.match_ids()[1]) == load_record(store, store.match_ids()[0])


def test_a_sheet_is_imported_from_standard_input(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'\xef\xbb\xbf[Game "citadel"]\r\n1. c2-c3\r\n')))
    assert main(["import", "-", "--store", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"match": 1, "events": 2}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "line 1, column 1: a score sheet begins with"),
        (b"[Game \xff", "line 1, column 7: not UTF-8"),
        (b"\n\xff", "line 2, column 1: not UTF-8"),
        (b"{", "line 1, column 2: Expecting property name"),
        (b'[Game "citadel"]\n\x00]', "line 2, column 2: ']' cannot stand here"),
    ],
)
def test_what_is_no_match_is_one_line_and_leaves_no_store(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str], content: bytes, complaint: str
) -> None:
    file = tmp_path / "x.txt"
    file.write_bytes(content)
    assert main(["import", str(file), "--store", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"companion import: {file}: {complaint}")
    assert err.count("\n") == 1
    assert not path.exists()
