"""A page's TLS certificate: one given by the user, or a self-signed one, made once and kept with the table's state."""

from __future__ import annotations

import ipaddress
import os
import ssl
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from calibration.files import read_bytes
from calibration.writing import whole_file
from companion.errors import CompanionError
from companion.web.tls import Certificate

FILE = "page.pem"
"""File of the table's own key and certificate, in its state folder."""

LASTS = timedelta(days=820)
"""Validity of a new certificate: Apple's systems trust none that is valid for more than 825 days."""

RENEWED = timedelta(days=30)
"""A certificate that expires sooner is replaced, so that it does not expire in the middle of an evening."""

MAX_BYTES = 2**20
"""Largest size of a file: a certificate with its chain has some kilobytes."""

SKEW = timedelta(days=1)
"""How much earlier than now a new certificate becomes valid, since a phone's clock may be behind."""


def given_certificate(certificate: Path, key: Path) -> Certificate:
    """A certificate given by the user.  Raises CompanionError when it cannot be used."""
    path = certificate
    try:
        for path in (key, certificate):
            data = read_bytes(path, MAX_BYTES)
        found = x509.load_pem_x509_certificates(data)[0]
        given = Certificate(certificate, key, _fingerprint(found))
        given.context()
    except (ssl.SSLError, ValueError):
        raise CompanionError(f"--tls: {path}: cannot be used (not a certificate with its key, as PEM)") from None
    except OSError as error:
        raise CompanionError(f"--tls: {path}: cannot be used ({error.strerror})") from None
    return given


def kept_certificate(folder: Path, names: Sequence[str], now: datetime) -> Certificate:
    """The table's own certificate from ``folder``; made, readable by its owner only, if there is no lasting one.

    Args:
        folder: where it is kept; the folder must exist.
        names: names and addresses of the machine; only a new certificate is sure to have them all.
        now: the current time, with its time zone.

    Raises CompanionError when it cannot be read or written.
    """
    path = folder / FILE
    try:
        found = _read(path)
        if found is None or found.not_valid_after_utc - now < RENEWED:
            found = _write(path, names, now)
        path.chmod(0o600)
    except OSError as error:
        raise CompanionError(f"{path}: cannot be read or written ({error.strerror})") from None
    return Certificate(path, path, _fingerprint(found))


def _read(path: Path) -> x509.Certificate | None:
    """The certificate at ``path``; None if there is none that works."""
    try:
        found = x509.load_pem_x509_certificate(read_bytes(path, MAX_BYTES))
        Certificate(path, path, "").context()
    except (FileNotFoundError, ssl.SSLError, ValueError):
        return None
    return found


def _write(path: Path, names: Sequence[str], now: datetime) -> x509.Certificate:
    """Make and write a new self-signed certificate, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Referee of a table")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now.astimezone(UTC) - SKEW)
        .not_valid_after(now.astimezone(UTC) + LASTS)
        # It is its own authority, so that a phone can be told to trust it.
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([*_alternatives(names)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with whole_file(path) as part:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secret + certificate.public_bytes(serialization.Encoding.PEM))
    return certificate


def _alternatives(names: Sequence[str]) -> Iterator[x509.GeneralName]:
    """The names as subject alternative names, without those that are not valid in a network."""
    for name in names:
        try:
            yield x509.IPAddress(ipaddress.ip_address(name))
        except ValueError:
            with suppress(UnicodeError):
                yield x509.DNSName(name.encode("idna").decode())


def _fingerprint(certificate: x509.Certificate) -> str:
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()
