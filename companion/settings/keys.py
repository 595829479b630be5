"""The keys of ``table.toml``: each long option of ``companion referee`` under its name, and keys without an option."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum

from companion.panel.pins import Pins


class Kind(Enum):
    """The type of a key's value; the enum's value is the word for it in messages."""

    TEXT = 'text in quotes, such as "en"'
    KIT = 'a kit\'s name or file in quotes, such as "domination"'
    DEVICES = "a camera's number, or its path or address in quotes, or several: [0, 2]"
    MODULES = "a camera module's number, or several: [0, 1]"
    PHONES = "true, or how many phones: 2"
    FLAG = "true or false"
    PROOF = 'true, or a certificate and its key: ["cert.pem", "key.pem"]'
    FILE = 'a file or folder in quotes, such as "camera.toml"'
    FILES = 'a file or folder in quotes, or several: ["left.toml", "right.toml"]'


@dataclass(frozen=True, slots=True)
class Key:
    """One key; ``has_no`` if the option has a negative form that begins with ``--no-``."""

    name: str
    kind: Kind
    has_no: bool = False


OPTIONS: tuple[Key, ...] = (
    Key("kit", Kind.KIT),
    Key("kings", Kind.TEXT),
    Key("start", Kind.TEXT),
    Key("camera", Kind.FILES),
    Key("set", Kind.FILES),
    Key("device", Kind.DEVICES),
    Key("picamera", Kind.MODULES),
    Key("phone", Kind.PHONES),
    Key("recording", Kind.FILES),
    Key("simulate", Kind.FLAG),
    Key("serial", Kind.TEXT),
    Key("resume", Kind.FLAG),
    Key("wait", Kind.FLAG),
    Key("confirm", Kind.FLAG),
    Key("clock", Kind.TEXT),
    Key("match", Kind.FILE),
    Key("panel", Kind.TEXT),
    Key("language", Kind.TEXT),
    Key("voice", Kind.FLAG, has_no=True),
    Key("web", Kind.TEXT),
    Key("tls", Kind.PROOF),
    Key("hall", Kind.TEXT),
    Key("pictures", Kind.FILE),
    Key("json", Kind.FLAG),
    Key("save", Kind.FILE),
    Key("save-space", Kind.TEXT),
)
"""Options of ``companion referee``, in the order of ``--help``."""

SOURCES = ("device", "picamera", "phone", "recording", "simulate")
"""Options for the source of pictures, of which at least one is given."""

SELF_CONTAINED = ("recording", "simulate")
"""Sources with their own camera and set."""

AUTO = "auto"
"""Value in place of a camera's file."""

GAME = "game"
"""Key of the only positional argument."""

PINS, NAMES = "pins", "names"
"""Tables of the file without an option."""

PIN_KEYS = tuple(field.name for field in fields(Pins))
