"""The second look of a verdict is shown with it: as text in the terminal, with pictures in the file."""

from __future__ import annotations

from base64 import b64encode

import cv2
import numpy as np

from companion.records.figures import figures
from companion.records.verdict_explanation import VerdictExplanation, grounds_lines
from companion.records.verdict_page import verdict_jpeg, verdict_page
from companion.referee.grounds import Explanation, Grounds, TableCompared
from tests.records.conftest import played


def jpeg(grey: int) -> str:
    """Return a base64-encoded JPEG picture of one grey."""
    return b64encode(cv2.imencode(".jpg", np.full((40, 60, 3), grey, np.uint8))[1].tobytes()).decode()


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
