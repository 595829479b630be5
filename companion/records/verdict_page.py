"""A verdict with its picture, squares and grounds, as one HTML file or one JPEG."""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Sequence
from html import escape

import cv2
from PIL import Image

from calibration.errors import ProfileError
from calibration.kit import load_kit
from companion.records.raster import Picture, board_image, from_bgr, to_bgr, write_lines
from companion.records.shots import decode
from companion.records.squares import mark_squares
from companion.records.verdict_explanation import VerdictExplanation, grounds_lines, percent
from companion.referee.grounds import Grounds
from companion.scene.oblique import PAPER
from companion.scene.svg import svg_text

WIDTH, CAMERA_HEIGHT, SIDE, LINE = 1440, 540, 480, 22
"""Sizes in the JPEG, in pixels: total width, height of the camera's picture, side of the board, a line of text."""

LOOK_HEIGHT, GAP = 240, 20
"""Greatest height of the pictures of a second look, and the gap between them."""

LETTER, SENTENCE = 16, 160
"""Size of letters in the JPEG, in pixels, and most of them in a line."""

COLUMN = 110
"""Width of a column of the tables in it."""

COLUMNS = re.compile(" {2,}")
QUALITY = 90

STYLE = """
body { margin: 0 auto; max-width: 1100px; padding: 16px 20px; background: #fffdf8; color: #231f18;
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 20px; } h2 { font-size: 17px; margin: 24px 0 6px; }
.pictures { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start; }
.pictures img { flex: 1 1 480px; max-width: 640px; width: 100%; border-radius: 6px; }
.pictures svg { flex: 1 1 320px; max-width: 420px; }
.looks { display: flex; flex-wrap: wrap; gap: 16px; } .looks figure { margin: 0; max-width: 320px; }
.looks img { width: 320px; max-width: 100%; border-radius: 6px; }
table { border-collapse: collapse; } th, td { padding: 3px 16px 3px 0; text-align: left; }
th { border-bottom: 1px solid #ddd5c4; } td:first-child { font-variant-numeric: tabular-nums; }
"""


def marked_picture(explanation: VerdictExplanation) -> Picture | None:
    """The camera's picture with frames around the squares concerned; None if no picture was stored."""
    picture = None if explanation.picture is None else decode(explanation.picture)
    if picture is None:
        return None
    try:
        kit = load_kit(explanation.kit)
    except ProfileError:
        # A user's kit file may have been moved since: then the picture is shown unmarked.
        return picture
    return mark_squares(picture, kit, explanation.figure.moved, explanation.figure.wrong)


def verdict_page(explanation: VerdictExplanation) -> str:
    """The HTML file's text, with the picture embedded."""
    figure, grounds = explanation.figure, explanation.grounds
    title = f"Match {explanation.number}, event {explanation.event.n}: {figure.title}"
    board = svg_text(figure.diagram)
    rules = "".join(f"<p><b>{escape(r.id)} {escape(r.title)}.</b> {escape(r.text)}</p>" for r in explanation.rules)
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1><p>{explanation.event.t:.1f} s. {escape(figure.caption)}</p>{rules}",
        f'<div class="pictures">{_picture(explanation)}{board}</div>',
    ]
    if grounds is None:
        parts.append("<p>No picture led to this.</p>")
    else:
        parts.append(f"<p>{escape(grounds_lines(grounds)[0])}</p>")
        weighed = [(percent(one.log_p), one.what) for one in grounds.explanations]
        parts.append(_table("What it may have been", ("probability", "explanation"), weighed))
        squares = [
            (s.cell, s.expected, "hidden" if s.hidden else s.read, s.believed, f"{abs(s.log_p):.1f}")
            for s in grounds.squares
        ]
        heads = ("square", "expected", "read", "believed", "against, nats")
        parts.append(_table("Squares", heads, squares) if squares else "")
        parts.append(_second_look(grounds))
    return "\n".join([*parts, "</body></html>", ""])


def _picture(explanation: VerdictExplanation) -> str:
    picture = marked_picture(explanation)
    if picture is None:
        return "<p>No picture of it was kept.</p>"
    _, jpeg = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    data = base64.b64encode(jpeg.tobytes()).decode()
    return f'<img alt="What the camera saw" src="data:image/jpeg;base64,{data}">'


def _second_look(grounds: Grounds) -> str:
    """The squares in question, beside renderings of them for each table that was compared."""
    figures = [
        f'<figure><img alt="" src="data:image/jpeg;base64,{data}"><figcaption>{escape(text)}</figcaption></figure>'
        for text, data in _captioned(grounds)
    ]
    return f'<h2>Looked at a second time</h2><div class="looks">{"".join(figures)}</div>' if figures else ""


def _table(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    head = "".join(f"<th>{escape(word)}</th>" for word in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(word)}</td>' for word in row)}</tr>" for row in rows)
    return f"<h2>{escape(title)}</h2><table><tr>{head}</tr>{body}</table>"


def _captioned(grounds: Grounds) -> list[tuple[str, str]]:
    """Captions and pictures (base64) of a second look: what the camera saw, then each table, as in the grounds."""
    shown = [(f"{one.what}: {abs(one.log_p):.1f} nats against", one.rendering) for one in grounds.compared]
    return [(text, data) for text, data in [("as the camera saw it", grounds.picture), *shown] if data]


def verdict_jpeg(explanation: VerdictExplanation) -> bytes:
    """The camera's picture, the board and the grounds on one sheet, as JPEG."""
    text = [
        *textwrap.wrap(
            f"Event {explanation.event.n}, {explanation.event.t:.1f} s. {explanation.figure.caption}", SENTENCE
        ),
        *grounds_lines(explanation.grounds),
    ]
    looks = [] if explanation.grounds is None else _captioned(explanation.grounds)
    below = CAMERA_HEIGHT + LINE * (len(text) + 2)
    image = Image.new("RGB", (WIDTH, below + (LOOK_HEIGHT + 4 * LINE if looks else 0)), PAPER)
    _paste_looks(image, looks, below)
    camera = marked_picture(explanation)
    if camera is not None:
        _paste_into(image, camera, (0, 0, WIDTH - SIDE, CAMERA_HEIGHT))
    image.paste(board_image(explanation.figure.diagram, SIDE, CAMERA_HEIGHT), (WIDTH - SIDE, 0))
    for k, line in enumerate(text):
        top = CAMERA_HEIGHT + LINE // 2 + k * LINE
        # The terminal's columns are made of spaces, which are narrow in a proportional font.
        words = COLUMNS.split(line.strip()) if line.startswith(" ") else [line]
        for column, word in enumerate(words):
            write_lines(image, (GAP + column * COLUMN, top, 2 * WIDTH, top + 2 * LINE), word, LETTER)
    _, jpeg = cv2.imencode(".jpg", to_bgr(image), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return jpeg.tobytes()


def _paste_looks(image: Image.Image, looks: Sequence[tuple[str, str]], top: int) -> None:
    """Put the pictures of a second look side by side, each in an equal share of the width, above its caption."""
    share = (WIDTH - GAP) // max(len(looks), 1)
    for k, (caption, data) in enumerate(looks):
        look = decode(base64.b64decode(data))
        if look is None:
            continue
        left, right = GAP + k * share, (k + 1) * share
        below = _paste_into(image, look, (left, top, right, top + LOOK_HEIGHT))
        write_lines(image, (left, below, right, below + 3 * LINE), caption, LETTER)


def _paste_into(image: Image.Image, picture: Picture, box: tuple[int, int, int, int]) -> int:
    """Put ``picture``, as large as it fits, into the upper left of ``box`` (left, top, right, bottom).

    Returns where it ends below.
    """
    left, top, right, bottom = box
    scale = min((right - left) / picture.shape[1], (bottom - top) / picture.shape[0])
    size: tuple[int, int] = round(picture.shape[1] * scale), round(picture.shape[0] * scale)
    image.paste(from_bgr(picture).resize(size, Image.Resampling.LANCZOS), (left, top))
    return top + size[1]
