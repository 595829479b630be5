"""The search for the board that explains a picture best: coordinate ascent with block moves over one hypothesis.

A :class:`~vision.inference.hypothesis.Hypothesis` owns everything that changes meanwhile.
"""
