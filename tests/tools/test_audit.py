"""The audit reports what it could not look up."""

import json

import pytest

from tools.audit import known_vulnerabilities


def test_holes_and_what_was_not_looked_up_are_told_apart():
    rows = [
        {"name": "good", "version": "1.0", "vulns": []},
        {"name": "bad", "version": "2.0", "vulns": [{"id": "CVE-1"}, {"id": "CVE-2"}]},
        {"name": "unknown", "skip_reason": "not found"},
    ]
    found, skipped = known_vulnerabilities(json.dumps({"dependencies": rows}))
    assert found == [("bad", "2.0", "CVE-1"), ("bad", "2.0", "CVE-2")]
    assert skipped == ["not found"]


@pytest.mark.parametrize("text", ["", "[]", "{}", "no JSON"])
def test_what_is_no_report_is_told(text):
    with pytest.raises(RuntimeError, match="cannot be read"):
        known_vulnerabilities(text)
