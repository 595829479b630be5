"""How well a configuration explains pixels: observations, column integrals, stacks, edges, lateral faces, regions.

Every function is log p(pixels | configuration of a cell, its neighbours); nothing here chooses.
"""
