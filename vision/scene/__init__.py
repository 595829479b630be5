"""The geometry of what may be on the board, as seen from one camera pose; no pixel values.

Solids and configurations of a square, terrain, rectified crops, outlines and silhouettes, and the label buffer (an item
buffer: the z-buffer's visibility, with labels in place of colours) that holds the surface visible in every pixel of a
hypothesis.
"""
