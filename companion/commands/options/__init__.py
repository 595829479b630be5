"""Options shared by several commands, one file for each: their syntax, their value, and what they open."""
