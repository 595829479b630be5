"""From an unpacked box to a table that referees: camera, lens, mat, pieces, start position, panel, step by step."""
