"""The board as a scene: the bodies on it, in millimetres, and pictures of them."""
