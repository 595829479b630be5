"""What TLS is spoken with, and what this machine is called by those who speak it.

Certificates are read and made elsewhere (``certificate.py``), by a library that is loaded only where they are wanted.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a server proves itself with: two PEM files, which may be one.

    Attributes:
        certificate: its certificate, and those above it, if there are any.
        key: its private key, without a password.
        fingerprint: SHA-256 of its certificate, in pairs of hexadecimal digits, as browsers show it.
    """

    certificate: Path
    key: Path
    fingerprint: str

    def context(self) -> ssl.SSLContext:
        """What a server speaks TLS with.  Raises OSError, ssl.SSLError when the files cannot be used."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # A key with a password would be asked for on the terminal, and a table starts without anybody there.
        context.load_cert_chain(self.certificate, self.key, password=lambda: "")
        return context


def own_names(host: str) -> tuple[str, ...]:
    """What this machine may be called by who opens a page that listens on ``host``."""
    name = socket.gethostname().lower()
    there = [] if host in ("0.0.0.0", "::") else [host]  # noqa: S104 - what they mean: everywhere
    return tuple(dict.fromkeys((*there, name, f"{name}.local", "localhost", "127.0.0.1", *own_address())))


def own_address() -> tuple[str, ...]:
    """The address of this machine in its network; none where it is in none."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # An address for documentation (RFC 5737); to connect a datagram sends nothing.
        return (str(probe.getsockname()[0]),)
    return ()
