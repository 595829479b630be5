"""How well a configuration explains pixels: observations, column integrals, placement, stacks, facets, edges, regions.

Every function is log p(pixels | configuration of a cell, its neighbours); nothing here chooses.
"""
