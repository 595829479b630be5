"""The label buffer against a plain painter's algorithm, from far to near."""

import numpy as np
import pytest

from vision.scene.label_buffer import CHANGED, MATERIAL_MASK, RANK_BITS, bare_buffers, render, visible_px
from vision.scene.materials import Materials
from vision.scene.silhouettes import UPPERMOST, WHOLE, CropPose, no_silhouettes, trace_silhouettes

SIZE = (48, 64)
CELLS = 4
TOP = int(Materials.TOPS)


def stacks(seed):
    """Return silhouettes of boxes with an upper face at random places, and a random order of occlusion."""
    rng = np.random.default_rng(seed)
    silhouettes = no_silhouettes(CELLS, SIZE[0])
    for cell in range(CELLS):
        width, height, face = rng.uniform(6, 14), rng.uniform(8, 20), rng.uniform(3, 6)
        box = np.array([(-width, -height), (width, -height), (width, face - height), (-width, face - height)])
        corners = np.vstack([box, [(-width, 0), (width, 0)]])
        trace_silhouettes(
            silhouettes, cell, corners, 4, CropPose(np.eye(2), rng.uniform((5, 20), (60, 46)), np.zeros(2)), SIZE[1]
        )
    return silhouettes, rng.permutation(CELLS).astype(np.intp)


def bare():
    """Return labels of the table with a pillar of the nearest rank in the middle."""
    labels = np.full(SIZE, Materials.TABLE, np.uint16)
    labels[20:30, 20:34] = (3 << RANK_BITS) + Materials.FLOOR
    return labels


def painted(silhouettes, far_first, materials):
    """Return the labels painted pixel by pixel from far to near."""
    labels = bare()
    for place, cell in enumerate(far_first):
        if materials[cell]:
            for part, material in ((WHOLE, Materials.STANDING), (UPPERMOST, materials[cell])):
                for row in range(*silhouettes.rows[cell, part]):
                    for column in range(*silhouettes.runs[cell, part, row]):
                        if bare()[row, column] >> RANK_BITS <= place + 1:
                            labels[row, column] = ((place + 1) << RANK_BITS) + material
    return labels


@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_a_plain_painter_paints(seed):
    """The rendered labels agree with the reference."""
    silhouettes, far_first = stacks(seed)
    materials = np.array([TOP, TOP + 1, 0, TOP + 1])
    buffers = bare_buffers(bare(), CELLS)
    render(buffers, silhouettes, far_first, materials)
    np.testing.assert_array_equal(buffers.labels, painted(silhouettes, far_first, materials))


def test_what_was_rendered_before_is_gone():
    """Rendering again removes what was rendered before."""
    silhouettes, far_first = stacks(1)
    buffers = bare_buffers(bare(), CELLS)
    for materials in (np.full(CELLS, TOP), np.array([0, TOP, 0, 0]), np.zeros(CELLS, np.intp)):
        render(buffers, silhouettes, far_first, materials)
        np.testing.assert_array_equal(buffers.labels, painted(silhouettes, far_first, materials))


def test_a_changed_silhouette_is_rendered_again():
    """What is marked as changed is rendered at its new place, and what it hid appears."""
    silhouettes, far_first = stacks(2)
    materials, buffers = np.full(CELLS, TOP), bare_buffers(bare(), CELLS)
    render(buffers, silhouettes, far_first, materials)
    silhouettes.put(np.arange(2), stacks(3)[0].select(np.arange(2)))
    buffers.materials[:2] = CHANGED
    render(buffers, silhouettes, far_first, materials)
    np.testing.assert_array_equal(buffers.labels, painted(silhouettes, far_first, materials))


def test_pixels_are_counted_by_what_occludes_them():
    """Visible pixels are counted by the rank of what occludes them."""
    silhouettes, far_first = stacks(3)
    materials = np.full(CELLS, TOP)
    labels = painted(silhouettes, far_first, materials)
    counts = visible_px(labels, silhouettes)
    for cell in range(CELLS):
        pixels = np.zeros(SIZE, bool)
        for row in range(*silhouettes.rows[cell, WHOLE]):
            pixels[row, slice(*silhouettes.runs[cell, WHOLE, row])] = True
        assert counts[cell].tolist() == np.bincount(labels[pixels] >> RANK_BITS, minlength=CELLS + 1).tolist()
    assert (labels & MATERIAL_MASK == TOP).any()
