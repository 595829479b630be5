"""The kit that a game is played with."""

import pytest

from companion.commands.options.game import open_kit
from companion.errors import CompanionError
from companion.games import load_game


def test_pillars_that_cannot_stand_as_the_game_wants_are_refused():
    with pytest.raises(CompanionError, match="made for diamond:table, not for diamond"):
        open_kit(None, load_game("diamond"))
