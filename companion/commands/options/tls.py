"""The option `--tls`: the page over TLS, with a given certificate or the table's own."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from companion.errors import CompanionError
from companion.recorder.place import default_store, make_folder
from companion.web.address import is_loopback_address
from companion.web.tls import Certificate, own_names


def add_tls(parser: argparse.ArgumentParser) -> None:
    """Add `--tls`."""
    parser.add_argument(
        "--tls",
        type=Path,
        nargs="*",
        default=None,
        metavar="FILE",
        help="serve the page over TLS, with a certificate of the table's own, or with this: --tls CERT.pem KEY.pem",
    )


def certificate_of(
    files: Sequence[Path] | None, web: tuple[str, int] | None, *, has_phones: bool = False
) -> Certificate | None:
    """The certificate of the page at ``web``; None: it is served without TLS.

    Browsers give a camera to secure pages only, so a page with ``has_phones`` is served with TLS, except one on the
    loopback address: requests from elsewhere then come through a proxy.

    Raises CompanionError if the files are not a certificate with its key, or cannot be used.
    """
    if has_phones and web is None:
        raise CompanionError("--phone: its pictures come by way of the page; give --web 0.0.0.0:8443 too")
    if files is None and not (
        has_phones and web is not None and not is_loopback_address(web[0]) and web[0] != "localhost"
    ):
        return None
    if web is None:
        raise CompanionError("--tls: there is no page to serve; give --web HOST:PORT too")
    # Imported here only: the library that reads certificates takes 8 MB.
    from companion.web.certificate import given_certificate, kept_certificate  # noqa: PLC0415

    if files:
        if len(files) != 2:
            raise CompanionError(
                f"--tls: takes a certificate and its key, or no file: CERT.pem KEY.pem; got {files[0]}"
            )
        return given_certificate(files[0], files[1])
    folder = default_store(os.environ).parent
    make_folder(folder)
    return kept_certificate(folder, own_names(web[0]), datetime.now(UTC))
