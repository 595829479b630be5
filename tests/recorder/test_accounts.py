"""Storage of verdicts' grounds, and refusal of malformed ones."""

import pytest

from companion.errors import BadText
from companion.recorder.accounts import grounds_of, grounds_text
from companion.referee.grounds import Explanation, Grounds, SquareSeen

GROUNDS = Grounds(
    t_s=12.25,
    calm_s=0.5,
    readings=3,
    explanations=(Explanation("act d7-b6", -0.001), Explanation("no change", -7.5)),
    squares=(SquareSeen("b6", "1G", "2G", "2G", 0.0, hidden=False),),
)


def test_an_account_comes_back_from_its_line() -> None:
    text = grounds_text(GROUNDS)
    assert "\n" not in text
    assert text.isascii()
    assert grounds_of(text) == GROUNDS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        "{}",
        "[" * 100_000,
        grounds_text(GROUNDS).replace("3", '"three"', 1),
        grounds_text(GROUNDS).replace("-7.5", "null"),
        grounds_text(GROUNDS).replace("-7.5", "NaN"),
        grounds_text(GROUNDS).replace('"b6"', "6"),
        grounds_text(GROUNDS).replace('"cell"', '"square"'),
        grounds_text(GROUNDS).replace('"readings"', '"looks"'),
    ],
)
def test_what_is_no_account_is_refused(text: str) -> None:
    with pytest.raises(BadText, match="grounds of a verdict"):
        grounds_of(text)
