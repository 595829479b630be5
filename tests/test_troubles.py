"""Messages about pictures and set-ups are translated into every language."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType

import pytest

from companion.phrases import ENGLISH, GERMAN, LANGUAGES, trouble
from vision.pose.diagnosis import BLURRED

MODULES = (
    "vision.pose.registration",
    "vision.appearance.illumination",
    "vision.enrolment",
    "vision.enrolment_check",
    "vision.appearance.piece_colours",
    "vision.pose.certainty",
    "vision.pose.diagnosis",
    "vision.capture.video4linux",
    "vision.capture.picamera",
    "calibration.lens",
    "calibration.measuring",
    "calibration.piece_sizes",
    "vision.capture.network",
    "vision.capture.phone",
    "companion.own_board",
    "companion.web.setup.cameras",
    "companion.web.setup.files",
    "companion.web.setup.latest_frame",
    "companion.web.setup.page",
    "companion.web.setup.sizes",
    "companion.web.setup.calibration_photos",
    "companion.web.setup.session",
)
"""Modules whose errors players may read during set-up."""

ERRORS = ("VisionError", "ColoursAlike", "MatNotFound", "SourceLost", "ProfileError", "SetupError")

OF_FILES = {"{}: a board needs at least 3 x 3 squares and markers smaller than its squares"}
"""Messages about files, which no page refers to."""

PARTS = {
    "none",
    "check the camera's cable",
    "only marker {}",
    "that of {}: markers {}",
    "markers {}",
    "one {}",
    "nothing",
    "empty",
    "{} high, {} on top",
    "no picture yet",
    "the board looks otherwise than the kit says on {}: learn its look again (--empty), or correct the kit",
    "the board is seen too steeply or too small to tell the focal length: put the camera lower, and nearer",
    "choose a camera",
    "too dark: switch a lamp on",
    "too bright: lower the exposure, or turn the lamp away",
    "the photographs do not determine a camera; vary angle and place",
    "{}: no new picture for {} s",
    "{}: gives the same picture again and again",
    "{} markers do not tell the light all over the board: stick more round the squares, wholly on the board",
    "from file to file",
    "from rank to rank",
    "pieces",
    "pieces {}",
    "phone {}",
    (
        "the lines on the board are about {} mm apart {}, the borders of the kit's squares {} mm: "
        "measure the playing field again by its four corners"
    ),
    (
        "the lines on the board lie about {} mm beside the borders of the kit's squares {}: "
        "measure the playing field again by its four corners"
    ),
    "all squares are right, but the picture does not tell how large the pieces are: measure them and say it below",
}
"""Parts of other messages, and strings that are not used as errors where they are written."""


def said(module: ModuleType) -> Iterator[str]:
    """Yield the message of every error in ``module``, with ``{}`` for variable parts; for concatenations, the parts."""
    tree = ast.parse(inspect.getsource(module))
    named: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named.setdefault(node.targets[0].id, []).append(node.value)
        if isinstance(node, ast.FunctionDef):
            returned = (each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value)
            named.setdefault(node.name, []).extend(returned)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS:
            yield from texts(node.args[0], named, module)


def texts(node: ast.expr, named: dict[str, list[ast.expr]], module: ModuleType) -> Iterator[str]:
    """Yield the possible texts of an expression; ``named`` maps names and functions of ``module`` to their values."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        case ast.IfExp(body=one, orelse=other):
            yield from (*texts(one, named, module), *texts(other, named, module))
        case ast.BinOp(left=before, right=after):
            yield from (f"{text}{{}}" for text in texts(before, named, module))
            yield from texts(after, named, module)
        case ast.Name(id=name) | ast.Call(func=ast.Name(id="partial"), args=[ast.Name(id=name), *_]) if name in named:
            yield from (text for value in named[name] for text in texts(value, named, module))
        case ast.Name(id=name):
            yield getattr(module, name)


def places(text: str) -> list[str]:
    """Return the placeholders of a text."""
    return re.findall(r"{\w*}", text)


def bare(text: str) -> str:
    """Return the text with unnamed placeholders."""
    return re.sub(r"{\w+}", "{}", text)


@pytest.mark.parametrize("code", LANGUAGES.keys() - {"en"})
def test_every_language_has_its_words_for_each_message_and_for_no_other(code: str) -> None:
    messages = {text for name in MODULES for text in said(importlib.import_module(name))} - OF_FILES
    assert {bare(english) for english in LANGUAGES[code].troubles} == messages | PARTS


@pytest.mark.parametrize(("english", "german"), GERMAN.troubles.items())
def test_nothing_is_lost_and_each_message_is_found_by_its_own_words(english: str, german: str) -> None:
    assert sorted(places(english)) == sorted(places(german))
    filled = {place[1:-1]: f"Q{i}" for i, place in enumerate(places(english))}
    assert trouble(english.format_map(filled), GERMAN) == german.format_map(filled)


@pytest.mark.parametrize(
    ("english", "german"),
    [
        (
            "the mat is not in view: only marker 3 of its markers 0, 3 found; " + BLURRED,
            "die Matte ist nicht zu sehen: von ihren Marken 0, 3 ist nur Marke 3 gefunden; " + GERMAN.troubles[BLURRED],
        ),
        (
            "c5 should hold one R but looks empty; set the pieces as [enrol] says",
            "c5: erwartet ein R, gesehen leer; bitte die Steine so stellen, wie [enrol] sagt",
        ),
        (
            "f5 should hold one G but looks 1 high, R on top; set the pieces as [enrol] says, where no lamp glares",
            (
                "f5: erwartet ein G, gesehen 1 hoch, R obenauf; bitte die Steine so stellen, wie [enrol] sagt, wo "
                "keine Lampe blendet"
            ),
        ),
        ("something quite new", "something quite new"),
        ("{camera}: is not open", "{camera}: ist nicht offen"),
    ],
)
def test_messages_are_translated_with_what_is_put_into_them(english: str, german: str) -> None:
    assert trouble(english, GERMAN) == german
    assert trouble(english, ENGLISH) == english
