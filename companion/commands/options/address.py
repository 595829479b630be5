"""Parsers for addresses in options: a page's, a broker's."""

from __future__ import annotations

import argparse

from companion.errors import BadText
from companion.hall.topics import Broker, parse_broker
from companion.web.address import parse_address


def address(text: str) -> tuple[str, int]:
    """Parse host and port, for argparse."""
    try:
        return parse_address(text)
    except BadText as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def broker(text: str) -> Broker:
    """Parse the address of the broker that a hall listens to, for argparse."""
    return _parsed(text, with_table=False)


def broker_and_table(text: str) -> Broker:
    """Parse the address of the broker that a table talks to, with the table's name, for argparse."""
    return _parsed(text, with_table=True)


def _parsed(text: str, *, with_table: bool) -> Broker:
    try:
        return parse_broker(text, with_table=with_table)
    except BadText as error:
        raise argparse.ArgumentTypeError(str(error)) from error
