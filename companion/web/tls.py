"""The TLS context of a server, and the names and address of this machine.

Certificates are read and made in ``certificate.py``, with a library that is loaded only when needed.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Certificate:
    """A server's certificate: two PEM files, which may be one and the same.

    Attributes:
        certificate: file of the certificate and its chain, if there is one.
        key: file of the private key, without a password.
        fingerprint: SHA-256 of the certificate, in pairs of hexadecimal digits, as browsers show it.
    """

    certificate: Path
    key: Path
    fingerprint: str

    def context(self) -> ssl.SSLContext:
        """A server's TLS context.  Raises OSError, ssl.SSLError when the files cannot be used."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # Otherwise a key's password would be asked for on the terminal, and a table starts with nobody there.
        context.load_cert_chain(self.certificate, self.key, password=lambda: "")
        return context


def own_names(host: str) -> tuple[str, ...]:
    """Names and addresses under which a page that listens on ``host`` may be opened."""
    name = socket.gethostname().lower()
    there = [] if host in ("0.0.0.0", "::") else [host]  # noqa: S104 - what they mean: everywhere
    return tuple(dict.fromkeys((*there, name, f"{name}.local", "localhost", "127.0.0.1", *own_address())))


def own_address() -> tuple[str, ...]:
    """The address of this machine in its network; empty if it is in none."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # An address for documentation (RFC 5737); to connect a datagram sends nothing.
        return (str(probe.getsockname()[0]),)
    return ()
