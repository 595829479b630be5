"""How well a configuration explains pixels: observations, column integrals, stacks, edges, lateral faces, regions.

Every function returns log p(pixels | configuration of a cell, its neighbours); no decision is made here.
"""
