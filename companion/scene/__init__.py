"""A board as people look at it: the bodies that stand on it, in millimetres, and pictures of them."""
