"""The page over TLS: the table's own certificate, a user's own, and invalid ones."""

from __future__ import annotations

import hashlib
import http.client
import ipaddress
import os
import socket
import ssl
import stat
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from companion.commands.options.tls import certificate_of
from companion.errors import CompanionError
from companion.settings.table import read_settings
from companion.web import connections
from companion.web.certificate import FILE, LASTS, RENEWED, given_certificate, kept_certificate
from companion.web.feed import Feed
from companion.web.page import Page
from companion.web.tls import own_names
from tests.hall.test_hub import START

NOW = datetime.now(UTC)
NAMES = ("localhost", "127.0.0.1", "table-3.local")


def test_the_tables_own_stays_the_same_until_it_ends_and_is_its_owners_alone(tmp_path: Path) -> None:
    first = kept_certificate(tmp_path, NAMES, NOW)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert kept_certificate(tmp_path, ("other.local",), NOW + LASTS - 2 * RENEWED) == first
    renewed = kept_certificate(tmp_path, NAMES, NOW + LASTS - RENEWED / 2)
    assert renewed.fingerprint != first.fingerprint
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("left", [b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", b"\xff\0"])
def test_what_is_left_of_one_is_made_anew_and_closed_to_others(tmp_path: Path, left: bytes) -> None:
    (tmp_path / FILE).write_bytes(left)
    (tmp_path / FILE).chmod(0o644)
    kept_certificate(tmp_path, NAMES, NOW)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_the_page_is_served_over_tls_and_says_its_fingerprint(tmp_path: Path) -> None:
    proof = kept_certificate(tmp_path, own_names("127.0.0.1"), NOW)
    page = Page(("127.0.0.1", 0), Feed(START), tls=proof)
    try:
        trusting = ssl.create_default_context(cafile=str(proof.certificate))
        wire = http.client.HTTPSConnection("localhost", page.server.port, context=trusting)
        wire.request("GET", "/state")
        assert wire.getresponse().status == 200
        assert isinstance(wire.sock, ssl.SSLSocket)
        shown = hashlib.sha256(wire.sock.getpeercert(binary_form=True) or b"").hexdigest().upper()
        wire.close()
        assert proof.fingerprint.replace(":", "") == shown
        assert proof.fingerprint in page.notice
        assert "https://127.0.0.1" in page.notice
    finally:
        page.close()


def test_the_tables_own_page_may_rule_over_tls(tmp_path: Path) -> None:
    proof = kept_certificate(tmp_path, NAMES, NOW)
    page = Page(("127.0.0.1", 0), Feed(START), tls=proof)
    try:
        trusting = ssl.create_default_context(cafile=str(proof.certificate))
        statuses = []
        for scheme in ("https", "http"):
            wire = http.client.HTTPSConnection("127.0.0.1", page.server.port, context=trusting)
            origin = {"origin": f"{scheme}://127.0.0.1:{page.server.port}", "authorization": "Bearer wrong"}
            wire.request("POST", "/arbiter/pause", headers=origin)
            statuses.append(wire.getresponse().status)
            wire.close()
        assert statuses == [401, 403]
    finally:
        page.close()


def test_who_speaks_without_tls_is_not_answered_and_stops_nobody(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    proof = kept_certificate(tmp_path, NAMES, NOW)
    page = Page(("127.0.0.1", 0), Feed(START), tls=proof)
    try:
        with socket.create_connection(("127.0.0.1", page.server.port), timeout=300) as wire:
            wire.sendall(b"GET /state HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert b"HTTP/1.1 200" not in wire.recv(4096)
        trusting = ssl.create_default_context(cafile=str(proof.certificate))
        again = http.client.HTTPSConnection("localhost", page.server.port, context=trusting)
        again.request("GET", "/state")
        assert again.getresponse().status == 200
        again.close()
    finally:
        page.close()
    assert capfd.readouterr().err == ""


def test_somebodys_own_is_taken(tmp_path: Path) -> None:
    own = kept_certificate(tmp_path, NAMES, NOW)
    assert given_certificate(own.certificate, own.key) == own
    assert certificate_of((own.certificate, own.key), ("127.0.0.1", 0)) == own
    assert certificate_of(None, None) is None


def test_what_is_no_certificate_is_one_line(tmp_path: Path) -> None:
    own, text = kept_certificate(tmp_path, NAMES, NOW), tmp_path / "text.pem"
    text.write_text("no certificate\n")
    for files in ((text, own.key), (own.certificate, text), (tmp_path / "none.pem", own.key)):
        with pytest.raises(CompanionError, match=r"^--tls: .*cannot be used \(.+\)$"):
            given_certificate(*files)
    with pytest.raises(CompanionError, match="takes a certificate and its key"):
        certificate_of((own.certificate,), ("127.0.0.1", 0))
    with pytest.raises(CompanionError, match="there is no page to serve"):
        certificate_of((), None)


def test_what_is_no_file_is_one_line(tmp_path: Path) -> None:
    own, pipe = kept_certificate(tmp_path, NAMES, NOW), tmp_path / "pipe"
    os.mkfifo(pipe)
    for files in ((pipe, own.key), (own.certificate, pipe), (Path("/dev/zero"), own.key), (tmp_path, own.key)):
        with pytest.raises(CompanionError, match=r"^--tls: .*cannot be used \(.+\)$"):
            given_certificate(*files)
    own.key.unlink()
    os.mkfifo(own.key)
    with pytest.raises(CompanionError, match="it is no regular file"):
        kept_certificate(tmp_path, NAMES, NOW)


def test_a_certificate_without_its_key_is_made_anew(tmp_path: Path) -> None:
    first, other = kept_certificate(tmp_path, NAMES, NOW), tmp_path / "other"
    other.mkdir()
    second = kept_certificate(other, NAMES, NOW)
    end = b"-----END PRIVATE KEY-----\n"
    (key, _), (_, shown) = (each.key.read_bytes().split(end) for each in (first, second))
    first.key.write_bytes(key + end + shown)
    assert kept_certificate(tmp_path, NAMES, NOW).fingerprint not in (first.fingerprint, second.fingerprint)


def test_a_machine_may_be_called_anything(tmp_path: Path) -> None:
    own = kept_certificate(tmp_path, ("bücher", "a..b", "x" * 80, "::1", "\udcff"), NOW)
    found = x509.load_pem_x509_certificate(own.certificate.read_bytes())
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["xn--bcher-kva"]
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("::1")]


def test_who_never_agrees_on_tls_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_S", 0.2)
    page = Page(("127.0.0.1", 0), Feed(START), tls=kept_certificate(tmp_path, NAMES, NOW))
    try:
        with socket.create_connection(("127.0.0.1", page.server.port), timeout=300) as wire:
            assert wire.recv(100) == b""
    finally:
        page.close()


def test_a_request_in_one_packet_with_the_end_of_the_agreement_is_served_over_tls(tmp_path: Path) -> None:
    proof = kept_certificate(tmp_path, NAMES, NOW)
    page = Page(("127.0.0.1", 0), Feed(START), tls=proof)
    coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
    secured = ssl.create_default_context(cafile=str(proof.certificate)).wrap_bio(
        coming, going, server_hostname=NAMES[0]
    )
    try:
        with socket.create_connection(("127.0.0.1", page.server.port), timeout=300) as wire:
            while True:
                try:
                    secured.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    wire.sendall(going.read())
                    coming.write(wire.recv(65536))
            secured.write(b"GET /state HTTP/1.1\r\nhost: localhost\r\n\r\n")
            wire.sendall(going.read())
            answer = b""
            while not answer:
                coming.write(wire.recv(65536))
                with suppress(ssl.SSLWantReadError):
                    answer = secured.read(20)
    finally:
        page.close()
    assert answer.startswith(b"HTTP/1.1 200")


def test_who_agrees_late_is_served_beside_many_who_never_do(tmp_path: Path) -> None:
    proof = kept_certificate(tmp_path, NAMES, NOW)
    page = Page(("127.0.0.1", 0), Feed(START), tls=proof)
    trusting = ssl.create_default_context(cafile=str(proof.certificate))
    wires = list[socket.socket]()
    try:
        for _ in range(2 * connections.MAX_WAITING):
            wires.append(socket.create_connection(("127.0.0.1", page.server.port), timeout=300))
        with trusting.wrap_socket(wires.pop(), server_hostname="localhost") as secured:
            secured.sendall(b"GET /state HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert secured.recv(20).startswith(b"HTTP/1.1 200")
        assert wires[0].recv(100) == b""
    finally:
        for wire in wires:
            wire.close()
        page.close()


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(CompanionError, match="cannot be read or written"):
        kept_certificate(tmp_path / "none", NAMES, NOW - timedelta(days=1))


def test_the_settings_name_it_too(tmp_path: Path) -> None:
    file = tmp_path / "table.toml"
    for value, words in (
        ("true", ("--tls",)),
        ("false", ()),
        ('["c.pem", "/k.pem"]', ("--tls", f"{tmp_path}/c.pem", "/k.pem")),
    ):
        file.write_text(f'game = "domination"\ntls = {value}\n')
        assert read_settings(file, lambda _: None).words == ("domination", *words)
