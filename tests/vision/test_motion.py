"""Motion, and arms over the board."""

import cv2
import numpy as np
import pytest

from companion.tracker.evidence import CHANGE_SHARES
from tests.vision.conftest import Bench
from vision.motion import MotionDetector

NAME = "domination-b-103.jpg"


@pytest.fixture
def image(bench: Bench):
    """Return the example photograph."""
    return bench.photos[NAME].image


@pytest.fixture
def watch(bench):
    """Return a motion watch for the example photographs."""
    return MotionDetector(bench.kit, bench.camera)


def noisy(image, sigma, seed):
    """Return the picture with Gaussian noise, ``sigma`` in codes."""
    noise = np.random.default_rng(seed).normal(0, sigma, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def compared(bench, watch, image):
    """Compare a picture with the bare tables that ``watch`` has kept."""
    reader = bench.reader()
    return watch.compare(watch.process(image), reader.geometry(reader.register(image)))


def test_the_first_frame_may_have_moved(watch, image):
    """The first frame counts as motion."""
    assert watch.process(image).moving


@pytest.mark.parametrize("sigma", [0, 3, 8])
def test_noise_is_not_motion(watch, image, sigma):
    """Noise of up to 8 codes is not motion."""
    watch.process(noisy(image, sigma, 1))
    assert not watch.process(noisy(image, sigma, 2)).moving


def test_a_piece_that_appears_is_motion(watch, image):
    """A new piece is motion in the first frame that shows it."""
    watch.process(image)
    changed = image.copy()
    changed[480:510, 520:555] = (40, 30, 170)
    assert watch.process(changed).moving
    assert not watch.process(changed).moving


def test_a_resting_arm_covers_the_cells_below_it(bench, watch, image):
    """The cells under a resting arm are covered, distant ones are not."""
    watch.keep_bare(watch.process(image), is_thing=False)
    arm = image.copy()
    arm[250:, 560:720] = (110, 140, 190)
    seen = compared(bench, watch, arm).covered
    assert seen[[bench.kit.cells.index(cell) for cell in ("d2", "e2")]].all()
    assert not seen[bench.kit.cells.index("a5")]


def test_a_hand_that_a_cuff_of_the_tables_colour_cuts_off_covers_cells_too(bench, watch, image):
    """A hand separated from the edge by a cuff of the table's colour still covers cells."""
    watch.keep_bare(watch.process(image), is_thing=False)
    arm = image.copy()
    arm[250:, 560:640] = (110, 140, 190)
    arm[575:615] = image[575:615]
    seen = compared(bench, watch, arm).covered
    assert seen[bench.kit.cells.index("d2")]


def test_a_hand_that_only_strips_join_to_its_sleeve_covers_cells_too(bench, watch, image):
    """Over a table of the skin's colour only what is lit or shaded is seen of a hand; alone it would reach no edge."""
    watch.keep_bare(watch.process(image), is_thing=False)
    arm = image.copy()
    arm[200:, 560:640] = (110, 140, 190)
    arm[480:660] = image[480:660]
    assert not compared(bench, watch, arm).covered.any(), "too far from what lies at the edge"
    for top in (510, 560, 610):
        arm[top : top + 20, 570:630] = (110, 140, 190)
    assert compared(bench, watch, arm).covered.any()


def test_a_bare_arm_on_a_strip_of_table_of_its_colour_covers_cells_too(bench, watch, image):
    """It is seen over the mat alone, which ends near the picture's edge; what is as near and narrower is no arm."""
    watch.keep_bare(watch.process(image), is_thing=False)
    arm, tower = image.copy(), image.copy()
    arm[200:680, 540:680] = tower[600:680, 570:650] = (60, 80, 130)
    assert compared(bench, watch, arm).covered[bench.kit.cells.index("d2")]
    assert not compared(bench, watch, tower).covered.any()
    arm[560:680] = image[560:680]
    assert not compared(bench, watch, arm).covered.any(), "too far from the edge"


def test_a_piece_put_down_is_no_arm(bench, watch, image):
    """A new piece does not count as an arm."""
    watch.keep_bare(watch.process(image), is_thing=False)
    changed = image.copy()
    changed[480:510, 520:555] = (40, 30, 170)
    assert not compared(bench, watch, changed).covered.any()


def test_a_thing_laid_at_the_edge_of_the_picture_is_no_arm(bench, watch, image):
    """An object at the edge of the picture does not count as an arm."""
    watch.keep_bare(watch.process(image), is_thing=False)
    changed = image.copy()
    changed[690:720, 200:300] = 255
    assert not compared(bench, watch, changed).covered.any()


def test_only_the_cells_that_changed_look_changed(bench, watch, image):
    """Noise changes no cell, and a new piece changes only its own."""
    watch.keep_bare(watch.process(image), is_thing=False)
    assert compared(bench, watch, noisy(image, 3, 5)).changed.max() < CHANGE_SHARES[0]
    reader = bench.reader()
    x, y = (int(v) for v in reader.geometry(reader.register(image)).crops.origin_px[bench.kit.cells.index("c2")])
    other = image.copy()
    other[y - 20 : y + 10, x - 20 : x + 20] = (40, 30, 170)
    changed = compared(bench, watch, other).changed
    assert changed[bench.kit.cells.index("c2")] > CHANGE_SHARES[1]
    assert changed[bench.kit.cells.index("f6")] < CHANGE_SHARES[0]


def test_nothing_is_compared_with_a_table_that_was_never_seen_bare(bench, watch, image):
    """Without a bare picture there is no comparison."""
    assert compared(bench, watch, image) is None
    watch.keep_bare(watch.process(image), is_thing=False)
    watch.forget_bare()
    assert compared(bench, watch, image) is None


def beside(image):
    """Return the picture with a hand resting beside the board."""
    with_hand = image.copy()
    with_hand[545:, 600:720] = (110, 140, 190)
    return with_hand


def over(image):
    """Return the picture with an arm over the squares next to where that hand rested."""
    with_arm = image.copy()
    with_arm[250:, 570:700] = (80, 60, 40)
    return with_arm


def test_a_stack_that_changes_where_a_hand_rests_beside_it_is_not_covered(bench, watch, image):
    """In the picture the changed stack is connected to the hand."""
    watch.keep_bare(watch.process(image), is_thing=False)
    changed = beside(image)
    changed[440:545, 640:680] = (40, 30, 170)
    seen = compared(bench, watch, changed)
    assert not seen.covered.any()
    assert seen.changed.max() > CHANGE_SHARES[2]


def shaded(image, rows, columns, share=0.67):
    """Return the picture with a shadow that leaves ``share`` of the display values, or one of each channel."""
    result = image.copy()
    result[rows, columns] = np.rint(share * result[rows, columns])
    return result


def test_the_shadow_of_a_hand_beside_the_board_covers_nothing(bench, watch, image):
    """The shadow of a hand beside the board covers no cell."""
    watch.keep_bare(watch.process(image), is_thing=False)
    assert not compared(bench, watch, shaded(beside(image), slice(250, 545), slice(560, 720))).covered.any()


def test_a_tower_whose_shadow_reaches_the_edge_of_the_picture_is_no_arm(bench, watch, image):
    """A tower with a shadow reaching the edge of the picture does not count as an arm."""
    watch.keep_bare(watch.process(image), is_thing=False)
    tower = shaded(image, slice(520, None), slice(570, 650))
    tower[430:540, 570:645] = (150, 60, 30)
    seen = compared(bench, watch, tower)
    assert not seen.covered.any()
    # If the change is longer and wider, it is an arm whose sleeve resembles the shaded table.
    hand = shaded(image, slice(520, None), slice(520, 700))
    hand[380:540, 520:700] = (110, 140, 190)
    assert compared(bench, watch, hand).covered.any()


@pytest.mark.parametrize("share", [0.67, (0.65, 0.61, 0.59)])
def test_ground_from_which_a_towers_shadow_has_gone_is_no_arm(bench, watch, image, share):
    """The tower now stands beside its old place; both places together are as wide as a small hand.

    The second shadow is bluish, as beside a warm lamp.
    """
    was, now = (slice(520, None), slice(600, 690)), (slice(520, None), slice(480, 560))
    before = shaded(image, *was, share)
    before[440:540, 600:680] = (150, 60, 30)
    after = shaded(image, *now, share)
    after[440:540, 515:600] = (150, 60, 30)
    watch.keep_bare(watch.process(before), is_thing=False)
    assert not compared(bench, watch, after).covered.any()
    # Lit ground looks like ground; an arm of any brightness has a colour of its own.
    after[440:, 600:690] = (110, 140, 190)
    assert compared(bench, watch, after).covered.any()


def test_of_an_arm_and_its_shadow_the_arm_covers(bench, watch, image):
    """An arm covers the same cells with and without its shadow."""
    watch.keep_bare(watch.process(image), is_thing=False)
    alone = compared(bench, watch, over(image)).covered
    arm_and_shadow = shaded(image, slice(250, 720), slice(400, 700))
    arm_and_shadow[250:, 570:700] = (80, 60, 40)
    assert alone.any()
    assert (compared(bench, watch, arm_and_shadow).covered == alone).all()


def cup(image):
    """Return the picture with a cup beside the board, cut off by the picture's edge."""
    return cv2.circle(image.copy(), (660, 690), 90, (200, 190, 60), -1)


def box(image):
    """Return the picture with a box in its corner."""
    corners = np.array([(0, 420), (160, 480), (60, 719), (0, 719)])
    return cv2.fillConvexPoly(image.copy(), corners, (60, 90, 140))


def pile(image):
    """Return the picture with captured pieces piled up beside the board."""
    result = image.copy()
    for x, y in ((600, 650), (640, 640), (625, 610), (665, 660), (650, 690), (690, 700)):
        cv2.circle(result, (x, y), 24, (40, 30, 170), -1)
    return result


def chair(image):
    """Return the picture with the shadow of a chair over part of the board."""
    return shaded(image, slice(0, 720), slice(200, 500))


@pytest.mark.parametrize("is_thing", [False, True])
@pytest.mark.parametrize("beside", [beside, cup, box, pile, chair])
def test_what_comes_and_goes_beside_the_board_leaves_no_arm_behind(bench, watch, image, beside, is_thing):
    """Objects beside the board cover nothing when they come, stay or change; a later arm does."""
    watch.keep_bare(watch.process(image), is_thing=False)
    assert not compared(bench, watch, beside(image)).covered.any()
    watch.keep_bare(watch.process(beside(image)), is_thing=is_thing)
    assert not compared(bench, watch, beside(image)).covered.any()
    moved = image.copy()
    moved[470:545, 620:680] = (40, 30, 170)
    assert not compared(bench, watch, moved).covered.any()
    assert compared(bench, watch, over(image)).covered.any()


def test_a_piece_put_down_at_the_edge_of_a_shadow_is_no_arm(bench, watch, image):
    """A piece at the edge of a shadow does not count as an arm."""
    watch.keep_bare(watch.process(image), is_thing=False)
    assert not compared(bench, watch, chair(image)).covered.any()
    watch.keep_bare(watch.process(chair(image)), is_thing=False)
    put_down = chair(image)
    put_down[300:390, 460:540] = (40, 30, 170)
    assert not compared(bench, watch, put_down).covered.any()
    assert compared(bench, watch, over(chair(image))).covered.any()
    assert compared(bench, watch, over(image)).covered.any()


@pytest.mark.parametrize("share", [0.7, 0.8])
def test_what_stays_lit_when_most_of_the_picture_is_shaded_is_no_arm(bench, watch, image, share):
    """The light assumed for the whole picture is then that of the shadow."""
    watch.keep_bare(watch.process(image), is_thing=False)
    half_lit = shaded(image, slice(0, 720), slice(0, 800), share)
    half_lit[300:390, 700:780] = (40, 30, 170)
    assert not compared(bench, watch, half_lit).covered.any()
    assert compared(bench, watch, over(half_lit)).covered.any()


def test_a_thing_that_has_lain_for_long_is_no_arm(bench, watch, image):
    """An object kept as such in the bare picture covers nothing, whether it stays or goes."""
    watch.keep_bare(watch.process(image), is_thing=False)
    compared(bench, watch, over(image))
    watch.keep_bare(watch.process(over(image)), is_thing=True)
    assert not compared(bench, watch, over(image)).covered.any()
    assert not compared(bench, watch, image).covered.any()


def test_a_hand_that_was_overlooked_covers_nothing_once_it_has_gone(bench, watch, image):
    """Two pictures of one calm phase were kept as bare although they show the hand."""
    watch.keep_bare(watch.process(image), is_thing=False)
    watch.keep_bare(watch.process(over(image)), is_thing=False)
    watch.keep_bare(watch.process(over(image)), is_thing=False, is_same_calm=True)
    assert not compared(bench, watch, image).covered.any()
    other = image.copy()
    other[250:, 300:440] = (80, 60, 40)
    assert compared(bench, watch, other).covered.any()


def test_nor_does_one_that_was_overlooked_in_the_calm_before_when_that_is_compared_with(bench, watch, image):
    """A review compares with the picture of the previous calm phase; the hand was overlooked in that one."""
    watch.keep_bare(watch.process(over(image)), is_thing=False)
    watch.keep_bare(watch.process(image), is_thing=False)
    assert watch.restore_earlier_bare()
    assert not compared(bench, watch, image).covered.any()
    other = image.copy()
    other[250:, 300:440] = (80, 60, 40)
    assert compared(bench, watch, other).covered.any()


def test_a_shadow_over_much_of_the_picture_hides_no_arm(bench, watch, image):
    """An arm over a board half in shadow is still detected."""
    watch.keep_bare(watch.process(image), is_thing=False)
    dark = shaded(image, slice(None), slice(620, None))
    arm = over(dark)
    assert compared(bench, watch, arm).covered[[bench.kit.cells.index(cell) for cell in ("d2", "e2")]].all()


def test_noise_hides_neither_an_arm_of_nearly_the_tables_colour_nor_what_it_has_left(bench, watch, image):
    """The arm differs from the table by less than six standard deviations of the noise, and is as wide as an arm."""
    noise = 16.0

    def seen(picture, seed):
        return noisy(picture, noise, seed)

    watch.keep_bare(watch.process(seen(image, 1)), is_thing=False)
    arm = image.astype(np.int16)
    arm[250:, 560:720] += (-26, -22, 30)
    arm = np.clip(arm, 0, 255).astype(np.uint8)
    below = [bench.kit.cells.index(cell) for cell in ("d2", "e2")]
    assert compared(bench, watch, seen(arm, 2)).covered[below].all()
    watch.keep_read(watch.process(seen(arm, 2)))
    reader = bench.reader()
    altered = watch.changed_cells(watch.process(seen(image, 3)), reader.geometry(reader.register(image)))
    assert altered[below].all()
    assert not altered[bench.kit.cells.index("a5")]
