"""A page's certificate: one's own, or the table's, made once and kept with its state."""

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
"""Key and certificate of the table's own, in the folder of its state."""

LASTS = timedelta(days=820)
"""Apple's systems trust no certificate that is valid for more than 825 days."""

RENEWED = timedelta(days=30)
"""One that ends sooner is made anew: nobody is to be surprised in the middle of an evening."""

MOST_BYTES = 2**20
"""Of a file: a certificate with all above it has some kilobytes."""

SKEW = timedelta(days=1)
"""A phone's clock may be behind."""


def given_certificate(certificate: Path, key: Path) -> Certificate:
    """Somebody's own.  Raises CompanionError when it cannot be used."""
    path = certificate
    try:
        for path in (key, certificate):
            data = read_bytes(path, MOST_BYTES)
        found = x509.load_pem_x509_certificates(data)[0]
        given = Certificate(certificate, key, _fingerprint(found))
        given.context()
    except (ssl.SSLError, ValueError):
        raise CompanionError(f"--tls: {path}: cannot be used (not a certificate with its key, as PEM)") from None
    except OSError as error:
        raise CompanionError(f"--tls: {path}: cannot be used ({error.strerror})") from None
    return given


def kept_certificate(folder: Path, names: Sequence[str], now: datetime) -> Certificate:
    """The table's own, from ``folder``; made, for its owner only, where there is none that lasts.

    Args:
        folder: where it lies; there must be such a folder.
        names: of the machine, and its addresses; only a new one has them all.
        now: with its time zone.

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
    """The certificate that lies there; None where there is none that works."""
    try:
        found = x509.load_pem_x509_certificate(read_bytes(path, MOST_BYTES))
        Certificate(path, path, "").context()
    except (FileNotFoundError, ssl.SSLError, ValueError):
        return None
    return found


def _write(path: Path, names: Sequence[str], now: datetime) -> x509.Certificate:
    """A new one, signed by itself."""
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
    """The addresses and names as a certificate has them; without those that cannot be names in a network."""
    for name in names:
        try:
            yield x509.IPAddress(ipaddress.ip_address(name))
        except ValueError:
            with suppress(UnicodeError):
                yield x509.DNSName(name.encode("idna").decode())


def _fingerprint(certificate: x509.Certificate) -> str:
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()
