"""Search for the hypothesis that best explains a picture: coordinate ascent and block moves in turn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.block_moves import join_towers, remove_spurious_stacks, split_towers
from vision.inference.coordinate_ascent import (
    complete,
    converge,
    initialise,
    may_be_higher,
    reinitialise,
    rescore_by_crop_faces,
)
from vision.inference.geometry import Geometry
from vision.inference.hypothesis import Hypothesis
from vision.inference.surfaces import find_camouflaged
from vision.likelihood.observations import Observations


def infer(observations: Observations, rim: npt.NDArray[np.float32], geometry: Geometry) -> Hypothesis:
    """Infer the hypothesis that best explains a whole board.

    Args:
        observations: what the picture shows.
        rim: (steps,) shading of a piece's side, see :class:`calibration.appearance.SetAppearance`.
        geometry: of the camera's pose.
    """
    hypothesis = Hypothesis(observations, rim, geometry)
    initialise(hypothesis, np.arange(len(observations.bins)))
    _search(hypothesis)
    return hypothesis


def infer_again(hypothesis: Hypothesis, cells: npt.NDArray[np.intp], observations: Observations) -> None:
    """Update a hypothesis where ``cells`` (b,) now show something else; ``hypothesis.updated`` says what changed."""
    reinitialise(hypothesis, cells, observations)
    _search(hypothesis)


def _search(hypothesis: Hypothesis) -> None:
    is_single_size = hypothesis.geometry.configurations.is_single_size
    converge(hypothesis)
    for move in (split_towers, join_towers, remove_spurious_stacks) if is_single_size else (remove_spurious_stacks,):
        if move(hypothesis):
            converge(hypothesis)
    if is_single_size:
        complete(hypothesis, np.flatnonzero(hypothesis.updated & may_be_higher(hypothesis)))
    if hypothesis.is_on_learned_board:
        find_camouflaged(hypothesis)
    if hypothesis.geometry.crop_faces is not None:
        rescore_by_crop_faces(hypothesis, hypothesis.geometry.crop_faces)
