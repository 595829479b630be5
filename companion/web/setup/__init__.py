"""The page that sets up a table step by step: camera, lens, mat, pieces, start position, panel."""
