"""The second look of a verdict is shown with it: as text in the terminal, with pictures in the file."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace

import cv2
import numpy as np

from companion.records.figures import figures
from companion.records.verdict_explanation import VerdictExplanation, grounds_lines
from companion.records.verdict_page import verdict_jpeg, verdict_page
from companion.referee.grounds import Explanation, Grounds, TableCompared
from tests.records.conftest import played


def jpeg(grey: int, width: int = 60, blue: int | None = None) -> str:
    """Return a base64-encoded JPEG picture of one colour: a grey, perhaps with another amount of blue."""
    picture = np.full((40, width, 3), grey, np.uint8)
    picture[..., 0] = grey if blue is None else blue
    return b64encode(cv2.imencode(".jpg", picture)[1].tobytes()).decode()


GROUNDS = Grounds(
    9.9,
    0.4,
    2,
    (Explanation("act *h3", -0.001),),
    (),
    (TableCompared("act *h3", 0.0, jpeg(10)), TableCompared("no change <&>", -21.5, jpeg(200))),
    jpeg(90),
)


def explained(grounds: Grounds) -> VerdictExplanation:
    """Return the explanation of a verdict with these grounds."""
    return VerdictExplanation(1, "domination", figures(played("domination"))[4], grounds, None)


def test_what_was_compared_is_said_in_words() -> None:
    lines = grounds_lines(GROUNDS)
    assert lines[-3].startswith("Looked at a second time")
    assert [line.split() for line in lines[-2:]] == [["0.0", "act", "*h3"], ["21.5", "no", "change", "<&>"]]


def test_the_page_shows_the_picture_and_both_renderings() -> None:
    page = verdict_page(explained(GROUNDS))
    places = [page.index(text) for text in (GROUNDS.picture, *(one.rendering for one in GROUNDS.compared))]
    assert places == sorted(places)
    assert "no change &lt;&amp;&gt;: 21.5 nats against" in page


def test_the_sheet_is_higher_by_the_pictures() -> None:
    with_looks, without = (
        cv2.imdecode(np.frombuffer(verdict_jpeg(explained(grounds)), np.uint8), cv2.IMREAD_COLOR)
        for grounds in (GROUNDS, Grounds(9.9, 0.4, 2, GROUNDS.explanations, ()))
    )
    assert with_looks.shape[0] > without.shape[0] + 200


def test_pictures_of_all_shapes_lie_side_by_side_on_the_sheet() -> None:
    """Four strongly coloured pictures, the last one narrow: none covers another."""
    tables = tuple(TableCompared("act *h3", -k, jpeg(20, 60 if k < 3 else 30, 230)) for k in range(4))
    grounds = Grounds(9.9, 0.4, 2, GROUNDS.explanations, (), tables, jpeg(20, 60, 230))
    sheet = cv2.imdecode(np.frombuffer(verdict_jpeg(explained(grounds)), np.uint8), cv2.IMREAD_COLOR).astype(int)
    below = sheet[-250:]
    _, _, boxes, _ = cv2.connectedComponentsWithStats((below[..., 0] - below[..., 2] > 150).astype(np.uint8))
    widths = sorted(box[2] for box in boxes[1:].tolist() if box[4] > 1000)
    assert len(widths) == 5
    assert widths[0] < 0.7 * widths[1]
    assert widths[-1] - widths[1] < 4


def test_a_long_sentence_stays_on_the_sheet() -> None:
    """The sheet grows by a line for what one line does not hold."""
    short = explained(GROUNDS)
    long = replace(short, figure=replace(short.figure, caption="pieces stand where none should " * 10))
    heights = [
        cv2.imdecode(np.frombuffer(verdict_jpeg(one), np.uint8), cv2.IMREAD_COLOR).shape[0] for one in (short, long)
    ]
    assert heights[1] > heights[0]
