"""The addresses under which other devices reach the pages of this machine."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from companion.web import base_url
from companion.web.base_url import reachable_base_url


def asked(host: str, scheme: str = "https") -> Request:
    """Return a request with this Host header."""
    headers = [(b"host", host.encode())]
    return Request(
        {"type": "http", "scheme": scheme, "path": "/", "root_path": "", "headers": headers, "query_string": b""}
    )


@pytest.mark.parametrize(
    ("host", "base"),
    [
        ("localhost:8443", "https://192.0.2.7:8443/"),
        ("127.0.0.1:8443", "https://192.0.2.7:8443/"),
        ("table.local:8443", "https://table.local:8443/"),
        ("198.51.100.4", "https://198.51.100.4/"),
    ],
)
def test_no_phone_is_sent_to_itself(monkeypatch: pytest.MonkeyPatch, host: str, base: str) -> None:
    monkeypatch.setattr(base_url, "own_address", lambda: ("192.0.2.7",))
    assert reachable_base_url(asked(host)) == base


def test_a_machine_in_no_network_stays_what_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_url, "own_address", tuple)
    assert reachable_base_url(asked("localhost:8443")) == "https://localhost:8443/"
