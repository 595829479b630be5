"""What a stacking game is: boards, positions, moves, rules, and their texts.  Knows no game by name."""
