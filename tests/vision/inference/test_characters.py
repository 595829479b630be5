"""Reading characters on upper faces despite shadows, occlusion, leaning stacks and heights in doubt."""

import random

import numpy as np
import pytest

from calibration.appearance import RIM_STEPS
from calibration.kit import load_kit
from companion.simulate.viewpoint import default_camera, default_pose
from tools.boards import picture, random_light
from vision.appearance.sharpening import remove_halo
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.glyphs.face_choice import likeliest_candidates
from vision.glyphs.face_detection import centre_faces
from vision.glyphs.faces import distances_mm
from vision.glyphs.legibility import FoundFace
from vision.glyphs.ring import NO_RING
from vision.glyphs.templates import make_alphabet
from vision.inference import characters, face_evidence, face_reading
from vision.inference.characters import read_characters, weigh_by_boundaries, weigh_by_rings
from vision.inference.coordinate_ascent import all_scores, converge, lacks_likeliest, rescore_placed
from vision.inference.evidence_weights import CAMOUFLAGED_WEIGHT, UNINFORMATIVE
from vision.inference.face_evidence import detect_faces, doubt_colours, evidence_by_height, hidden_nats, remove_faceless
from vision.inference.face_reading import NO_CELLS, LocatedFace, read_character, read_on_cells, search_face_cached
from vision.inference.line_of_stacks import split_lines
from vision.inference.search import infer
from vision.likelihood.stacks import OUT_OF_REACH
from vision.pose.projection import project
from vision.reader import Reader
from vision.scene.label_buffer import RANK_BITS

RIM = np.zeros(RIM_STEPS, np.float32)
WOOD = 170
"""Grey code of bare wood in a template."""


@pytest.fixture(scope="module")
def enrolled():
    """Return a reader, the enrolment picture it learned from, and a function that infers that table from colours."""
    kit, camera = load_kit("cheight"), default_camera()
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    table = [kit.enrol.get(cell, "") for cell in kit.cells]
    image = picture(kit, camera, pose, light, table, 0, ())
    reader = Reader(kit, camera, enrol(image, kit, camera))
    geometry = reader.geometry(pose)

    def inferred():
        return infer(reader.observations(image, geometry, reader.light(image, pose)), RIM, geometry)

    return reader, image, inferred


@pytest.mark.parametrize("piece", ["K", "A", "n"])
def test_a_character_is_read_that_the_edge_of_a_shadow_crosses(piece):
    """A character with a shadow over its left part is read correctly."""
    kit, camera = load_kit("cheight"), default_camera()
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    singles = [kit.enrol.get(cell, "") for cell in kit.cells]
    appearance = enrol(picture(kit, camera, pose, light, singles, 0, ()), kit, camera)
    table = [{"c4": piece, "c5": "pR"}.get(cell, "") for cell in kit.cells]
    image = picture(kit, camera, pose, light, table, 3, ())
    middle = project(np.array([[*kit.centres_mm[kit.cells.index("c4")], 10.0]]), pose, camera)[0]
    rows, columns = np.indices(image.shape[:2])
    shade = (np.abs(rows - middle[1]) < 60) & (np.abs(columns - middle[0] + 30) < 30)
    shaded = np.where(shade[..., None], image * 0.5, image).astype(np.uint8)
    reading = Reader(kit, camera, appearance).read(Frame(shaded, 0, 0.0))
    assert reading.best(kit.cells.index("c4"))[0] == (1, piece)


@pytest.mark.parametrize(
    ("where", "height", "is_judged"),
    [("b", 2, False), ("b", 3, False), ("b", 4, False), ("c", 2, True), ("c", 4, True)],
)
def test_a_face_is_searched_again_once_nothing_is_thought_to_occlude_it(where, height, is_judged, monkeypatch):
    """A face is searched again once the tower that seemed to occlude it has been corrected.

    With ``is_judged`` a first search found no face there, and the stack was penalised for that.
    """
    kit, camera = load_kit("cheight"), default_camera()
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    table = [kit.enrol.get(cell, "") for cell in kit.cells]
    appearance = enrol(picture(kit, camera, pose, light, table, 0, ()), kit, camera)
    reader, image = Reader(kit, camera, appearance), picture(kit, camera, pose, light, table, 3, ())
    geometry = reader.geometry(pose)
    hypothesis = infer(reader.observations(image, geometry, reader.light(image, pose)), RIM, geometry)
    # The colours alone favour a tower in front that half occludes the piece behind it, and a higher stack there.
    front, behind = kit.cells.index(f"{where}4"), kit.cells.index(f"{where}5")
    for cell, wrong in ((front, 5), (behind, height)):
        scores, state = hypothesis.scores[[cell]], 1 + (wrong - 1) * hypothesis.colours
        scores[0, state] = scores.max() + 3
        hypothesis.set_scores(np.array([cell]), scores)
        hypothesis.assign(cell, state)
    if is_judged:
        monkeypatch.setattr(characters, "read_on_cells", without_a_face_at_first(characters.read_on_cells, behind))
        monkeypatch.setattr(characters, "remove_faceless", spoken_against)
    alphabet = make_alphabet(appearance.glyphs)
    letters = read_characters(image, hypothesis, alphabet)
    assert hypothesis.state[[front, behind]].tolist() == [1, 1]
    assert [alphabet.letters[k] for k in letters[[front, behind]].argmax(axis=1)] == [table[front], table[behind]]


def without_a_face_at_first(read, cell):
    """Wrap ``read`` so that its first call reports that no face was found on ``cell``."""
    faceless = [np.array([cell])]
    return lambda *given: read(*given)._replace(faceless=faceless.pop() if faceless else NO_CELLS)


def spoken_against(_, hypothesis, cells):
    """Replacement for ``remove_faceless`` that makes stacks without a face unlikely but leaves them in place."""
    hypothesis.set_glyph_log_ratio(cells, np.full_like(hypothesis.glyph_log_ratio[cells], -300))
    scores = hypothesis.scores[cells]
    scores[:, 1:] -= 300
    hypothesis.set_scores(cells, scores)
    return False


@pytest.mark.parametrize("cell", ["a2", "d3", "b1"])
def test_a_height_that_colours_rule_out_is_found_where_its_face_is(cell):
    """The position of the face decides the height where the colours prefer one piece more.

    Sides of the same wood look alike at any height.
    """
    kit, camera = load_kit("cheight"), default_camera()
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    table = [kit.enrol.get(square, "") for square in kit.cells]
    reader = Reader(kit, camera, enrol(picture(kit, camera, pose, light, table, 0, ()), kit, camera))
    image = picture(kit, camera, pose, light, ["pP" if square == cell else "" for square in kit.cells], 3, ())
    geometry, number = reader.geometry(pose), kit.cells.index(cell)
    hypothesis = infer(reader.observations(image, geometry, reader.light(image, pose)), RIM, geometry)
    scores, higher = hypothesis.scores[[number]], 1 + 2 * hypothesis.colours
    scores[0, higher] = scores.max() + face_evidence.IN_QUESTION_NATS + 2
    hypothesis.set_scores(np.array([number]), scores)
    hypothesis.assign(number, higher)
    read_characters(image, hypothesis, make_alphabet(reader.appearance.glyphs))
    assert hypothesis.configuration_count(int(hypothesis.state[number])) == 2


@pytest.mark.parametrize("off_px", [(0, 0), (6, -4), (4, 6)])
def test_a_character_far_off_its_place_is_read_in_a_table_that_is_compared(enrolled, off_px):
    """The character on a leaning stack lies outside the region in which the most uniform ring is searched.

    The picture is shifted by ``off_px`` (rows, columns).
    """
    reader, image, inferred = enrolled
    hypothesis = inferred()
    shown, alphabet = np.roll(image, off_px, axis=(0, 1)), make_alphabet(reader.appearance.glyphs)
    for cell, piece in reader.kit.enrol.items():
        letters, gain = read_character(shown, hypothesis, alphabet, reader.kit.cells.index(cell))
        assert alphabet.letters[int(letters.argmax())] == piece
        assert gain > 10


def test_even_light_in_which_nothing_is_left_of_a_shadow_speaks_for_no_piece(enrolled, monkeypatch):
    """A face searched under uniform light gives no evidence for a piece if bare wood fits it as well.

    Bare wood fits badly across the edge of a shadow, and well under uniform light; both must be compared in one light.
    """
    reader, image, inferred = enrolled
    hypothesis, alphabet = inferred(), make_alphabet(reader.appearance.glyphs)
    cell = int(np.flatnonzero(hypothesis.state == 0)[0])
    hypothesis.assign(cell, 1)
    face = hypothesis.faces_on(np.array([cell]))
    in_shadow = np.arange(image.shape[1]) > face.centres_px[0, 0]
    shaded = np.where(in_shadow[:, None], image // 2, image)
    letters = np.full(len(alphabet.letters), -11.0, np.float32)
    monkeypatch.setattr(face_reading, "search_face", lambda *_: FoundFace(face, letters, -8.0, 0.0))
    read, gain = read_character(shaded, hypothesis, alphabet, cell)
    np.testing.assert_array_equal(read, letters)
    assert gain == 0


def test_a_character_much_darker_than_its_template_is_read_where_it_is(enrolled, monkeypatch):
    """A faint character is read where it is, without a search for its face elsewhere.

    It differs much from its template, but explains most of the face.
    """
    reader, image, inferred = enrolled
    codes = {letter: np.frombuffer(glyph, np.uint8).astype(float) for letter, glyph in reader.appearance.glyphs.items()}
    faint = {letter: (WOOD + 0.35 * (code - WOOD)).astype(np.uint8).tobytes() for letter, code in codes.items()}
    monkeypatch.setattr(face_reading, "search_face", lambda *_: pytest.fail("a legible face was searched"))
    alphabet, hypothesis = make_alphabet(faint), inferred()
    letters = read_characters(image, hypothesis, alphabet)
    for cell, piece in reader.kit.enrol.items():
        assert alphabet.letters[letters[reader.kit.cells.index(cell)].argmax()] == piece


@pytest.mark.parametrize("is_clear", [True, False])
def test_a_clear_face_is_not_given_up_for_that_of_another_stack(enrolled, monkeypatch, *, is_clear):
    """A stack whose character fits badly keeps it if it is clear, where a search finds only another stack's face.

    Otherwise it is read again, as the other one is not its own.
    """
    reader, image, inferred = enrolled
    cells = reader.kit.cells
    cell, other = cells.index("b4"), cells.index("b5")
    hypothesis, alphabet = inferred(), make_alphabet(reader.appearance.glyphs)
    letters = np.full(len(alphabet.letters), -90, np.float32)
    letters[alphabet.letters.index(reader.kit.enrol["b5"])] = -5
    theirs = FoundFace(hypothesis.faces_on(np.array([other])), letters, 99.0, 50.0)
    read = face_reading.read_faces

    def read_badly(image, candidates, labels, alphabet):
        found, evened = read(image, candidates, labels, alphabet)
        owner = (hypothesis.state[:cell] > 0).sum()
        if len(found.letters) > owner:
            found.letters[owner] -= 60
            found.is_legible[owner] = False
            if not is_clear:
                found.letters[owner] = -60
        return found, evened

    monkeypatch.setattr(characters, "detect_faces", lambda *_: None)
    monkeypatch.setattr(face_reading, "read_faces", read_badly)
    monkeypatch.setattr(face_reading, "search_face_cached", lambda *_: theirs)
    found = read_characters(image, hypothesis, alphabet)
    assert alphabet.letters[found[cell].argmax()] == reader.kit.enrol["b4"]


def read_badly(nats):
    """Return a ``read_faces`` for one cell whose characters fit worse by ``nats``, so that none is legible."""
    read = face_reading.read_faces

    def read_so(image, candidates, labels, alphabet):
        found, evened = read(image, candidates, labels, alphabet)
        return found._replace(letters=found.letters - nats, is_legible=np.zeros(1, np.bool_)), evened

    return read_so


@pytest.mark.parametrize(("where", "nats", "gain", "is_faceless"), [
    ("b4", -20, 50.0, False),
    ("b4", -20, 0.0, True),
    ("b5", -5, 50.0, True),
])  # fmt: skip
def test_a_character_that_fits_badly_but_explains_most_of_a_face_is_one(
    enrolled, monkeypatch, where, nats, gain, *, is_faceless
):
    """A stack has a face if a clear character is found there that explains most, as in noise and faint light.

    But not if that is the face of another stack: a tower of shaded pale ground, which had the face of the stack behind
    it, stood where nothing was.
    """
    reader, image, inferred = enrolled
    hypothesis, alphabet = inferred(), make_alphabet(reader.appearance.glyphs)
    cells, place = (np.array([reader.kit.cells.index(name)]) for name in ("b4", where))
    letters = np.full(len(alphabet.letters), -90, np.float32)
    letters[0] = nats
    elsewhere = FoundFace(hypothesis.faces_on(place), letters, 99.0, gain)
    monkeypatch.setattr(face_reading, "read_faces", read_badly(60))
    monkeypatch.setattr(face_reading, "search_face_cached", lambda *_: elsewhere)
    found = np.zeros((len(hypothesis.state), len(alphabet.letters)), np.float32)
    faceless = read_on_cells(image, hypothesis, alphabet, cells, found, {}).faceless
    assert faceless.tolist() == (cells.tolist() if is_faceless else [])


@pytest.mark.parametrize(("nats", "is_moved"), [(-80, False), (-15, True)])
def test_a_face_is_not_given_up_for_a_place_where_a_character_fits_worse(enrolled, monkeypatch, nats, *, is_moved):
    """A character explains more where more is dark, as between two pieces, though it fits worse there.

    So a shaded disc was read as two of them, with its face a piece's height too low.
    """
    reader, image, inferred = enrolled
    hypothesis, alphabet = inferred(), make_alphabet(reader.appearance.glyphs)
    cells = np.array([reader.kit.cells.index("b4")])
    own = hypothesis.faces_on(cells)
    letters = np.full(len(alphabet.letters), nats - 5, np.float32)
    letters[0] = nats
    lower = FoundFace(own.displaced(np.array([[0.0, -6.0]])), letters, 18.0, 0.0)
    monkeypatch.setattr(face_reading, "read_faces", read_badly(20))
    monkeypatch.setattr(face_reading, "search_face_cached", lambda *_: lower)
    found = np.zeros((len(hypothesis.state), len(alphabet.letters)), np.float32)
    faces = read_on_cells(image, hypothesis, alphabet, cells, found, {}).faces
    assert bool(distances_mm(faces, lower.face)[0, 0] < 1) is is_moved


@pytest.mark.parametrize("is_sure", [False, True])
def test_a_character_is_not_that_of_a_height_that_is_given_up(enrolled, monkeypatch, *, is_sure):
    """An unsure one that was read at another height is read again at the one that is believed in the end.

    What a half hidden red piece shows was compared 13 pixels above its face, and seemed black.
    """
    reader, image, inferred = enrolled
    hypothesis, alphabet = inferred(), make_alphabet(reader.appearance.glyphs)
    cell, count = reader.kit.cells.index("b4"), len(hypothesis.geometry.configurations.all)
    wrong = (alphabet.letters.index(reader.kit.enrol["b4"]) + 1) % len(alphabet.letters)
    read = characters.read_on_cells

    def read_too_high(image, hypothesis, alphabet, cells, found, *others):
        result = read(image, hypothesis, alphabet, cells, found, *others)
        if cell in cells:
            found[cell] = np.where(np.arange(len(alphabet.letters)) == wrong, -0.01 if is_sure else -0.5, -5)
            result.faces.put(cells == cell, hypothesis.geometry.faces.select(np.array([cell * count + 2])))
        return result

    monkeypatch.setattr(characters, "read_on_cells", read_too_high)
    letters = read_characters(image, hypothesis, alphabet)
    told = wrong if is_sure else alphabet.letters.index(reader.kit.enrol["b4"])
    assert letters[cell].argmax() == told


@pytest.mark.parametrize(("nats", "is_learned"), [(-45.0, True), (-20.0, True), (-5.0, False), (5.0, False)])
def test_a_character_says_that_something_stands_where_colours_hardly_do(enrolled, on_board, nats, is_learned):
    """A clear character outweighs colours that prefer an empty cell by up to 45 nats on a learned board.

    The model of a learned board is sharper than that of the pieces, so colours may be too certain of an empty cell
    there.
    """
    reader, image, inferred = enrolled
    hypothesis, cell = inferred(), reader.kit.cells.index("c6")
    if is_learned:
        on_board(hypothesis, 0.1)
    scores = hypothesis.scores[[cell]]
    scores[0, 1:] += nats - scores[0, 1:].max()
    hypothesis.set_scores(np.array([cell]), scores)
    hypothesis.assign(cell, int(scores.argmax()))
    read_characters(image, hypothesis, make_alphabet(reader.appearance.glyphs))
    assert hypothesis.glyph_log_ratio[cell].max() > face_evidence.IN_QUESTION_NATS
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == 1


@pytest.mark.parametrize("is_doubtful", [True, False])
def test_boundaries_say_that_something_stands_where_colours_are_in_doubt(enrolled, *, is_doubtful):
    """A lamp mirrored on a board may colour its light, and the pieces then seem ground; it may hide a character, too.

    Three stacks in full sight were surely none.
    """
    reader, image, inferred = enrolled
    hypothesis, cell = inferred(), reader.kit.cells.index("b4")
    scores = np.full_like(hypothesis.scores[[cell]], -40.0)
    scores[0, :2] = 0, -12
    hypothesis.set_scores(np.array([cell]), scores)
    hypothesis.assign(cell, 0)
    if is_doubtful:
        hypothesis.mark_doubtful(np.array([cell]))
    weigh_by_boundaries(image, hypothesis, np.array([cell]))
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == int(is_doubtful)


def test_colours_in_doubt_stay_bounded_whatever_is_scored_again(enrolled, on_board):
    """Not only where they are first doubted; and what a face says counts in full beside them."""
    reader, _, inferred = enrolled
    hypothesis, cell = on_board(inferred(), 0.1), reader.kit.cells.index("a1")
    doubt_colours(hypothesis)
    assert hypothesis.doubts_colours[cell]
    assert hypothesis.state[cell] == 0
    cells, by_face = np.array([cell]), np.zeros_like(hypothesis.glyph_log_ratio[[cell]])
    by_face[0, 0] = 6.0
    hypothesis.set_glyph_log_ratio(cells, by_face)
    single, none = np.zeros((1, 1), np.intp), np.zeros((1, 1, 2), np.float32)
    hypothesis.observations.expected[cell] = np.moveaxis(
        hypothesis.observations.codes[cell] * hypothesis.observations.gain[cell], -1, 0
    )
    least = np.log(UNINFORMATIVE) / CAMOUFLAGED_WEIGHT
    assert all_scores(hypothesis, cell)[0].max() > least + 5
    rescore_placed(hypothesis, cells, single, none)
    assert hypothesis.scores[cell, 1:].max() > least + 5


def test_where_the_board_looks_as_it_is_no_character_is_looked_for(enrolled, on_board):
    """No character is searched on a cell that looks exactly like the learned board."""
    reader, image, inferred = enrolled
    hypothesis, cell = inferred(), reader.kit.cells.index("c6")
    on_board(hypothesis, 0.1)
    shown = hypothesis.observations
    shown.expected[cell] = np.moveaxis(shown.codes[cell] * shown.gain[cell], -1, 0)
    scores = hypothesis.scores[[cell]]
    scores[0, 1:] += -45.0 - scores[0, 1:].max()
    hypothesis.set_scores(np.array([cell]), scores)
    hypothesis.assign(cell, 0)
    read_characters(image, hypothesis, make_alphabet(reader.appearance.glyphs))
    assert not hypothesis.glyph_log_ratio[cell].any()


def test_characters_are_looked_for_at_heights_that_colours_find_little_less_likely(enrolled, misled):
    """The heights searched depend on how they compare with each other, not with the empty cell.

    Pieces may be as pale as paper.
    """
    image, hypothesis, cell = misled(0, 0)
    scores = np.full_like(hypothesis.scores[[cell]], -99.0)
    scores[0, [0, *(1 + height * hypothesis.colours for height in range(3))]] = 0, -12, -16, -20
    hypothesis.set_scores(np.array([cell]), scores)
    hypothesis.assign(cell, 0)
    read_characters(image, hypothesis, make_alphabet(enrolled[0].appearance.glyphs))
    assert hypothesis.glyph_log_ratio[cell, 2] > 0
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == 3


def test_a_face_at_a_height_that_colours_rule_out_does_not_leave_the_square_empty(enrolled, misled):
    """A face at a height that the colours rule out confirms that a stack stands there, and gives its height.

    This happens with pieces of the ground's colour.
    """
    image, hypothesis, cell = misled(0, 0)
    scores = np.full_like(hypothesis.scores[[cell]], -30.0)
    scores[0, [0, *(1 + height * hypothesis.colours for height in range(3))]] = 0, 16, 11, -4
    hypothesis.set_scores(np.array([cell]), scores)
    hypothesis.assign(cell, 1)
    appearance = enrolled[0].appearance
    read_characters(image, hypothesis, make_alphabet(appearance.glyphs, appearance.ring_mm))
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == 3


def test_rings_are_measured_in_the_picture_as_it_was_taken(enrolled, monkeypatch):
    """Rings are measured in the original picture, not in the one with halos removed.

    Removing halos shifts the darkest circle, the more so the farther away the ring is.
    """
    reader, image, inferred = enrolled
    alphabet = make_alphabet(reader.appearance.glyphs, reader.appearance.ring_mm)
    legible, measured_in = remove_halo(image), []
    monkeypatch.setattr(characters, "weigh_by_rings", lambda shown, *_: measured_in.append(shown))
    read_characters(image, inferred(), alphabet, legible)
    assert [shown is image for shown in measured_in] == [True]
    cell = reader.kit.cells.index("c4")
    _, gain_as_taken = read_character(image, inferred(), alphabet, cell)
    monkeypatch.setattr(
        face_reading, "find_ring", lambda shown, *_: pytest.fail("blurred") if shown is legible else NO_RING
    )
    _, gain = read_character(image, inferred(), alphabet, cell, legible)
    assert gain < gain_as_taken


def test_a_face_speaks_only_for_heights_that_have_it_there(misled):
    """A face is evidence for the height whose face lies there; other heights get the alternative score."""
    _, hypothesis, cell = misled(0, 0)
    count = len(hypothesis.geometry.configurations.all)
    third = hypothesis.geometry.faces.select(np.array([cell * count + 2]))
    spoken = evidence_by_height(hypothesis, np.array([cell]), third, np.array([20.0]), np.array([-5.0]))
    assert np.flatnonzero(spoken[0] == 20).tolist() == [2]
    assert (np.delete(spoken[0], 2) == -5).all()


def tower_before(hypothesis, cell):
    """Return the cell and configuration whose face would be nearest to that of a stack of three on ``cell``."""
    centres_px, count = hypothesis.geometry.faces.centres_px, len(hypothesis.geometry.configurations.all)
    apart_px = np.linalg.norm(centres_px - centres_px[cell * count + 2], axis=1).reshape(-1, count)
    apart_px[cell] = np.inf
    return np.unravel_index(apart_px.argmin(), apart_px.shape)


def test_the_rim_of_a_nearer_stack_is_no_part_of_a_face_behind_it(enrolled, misled, monkeypatch):
    """The rim of a nearer stack is not attributed to a face behind it.

    In a blurred picture all ground between its pale rims would look like the ink of a character.
    """
    image, hypothesis, cell = misled(0, 0)
    hypothesis.set_scores(np.array([cell]), np.zeros_like(hypothesis.scores[[cell]]))
    given, gain = [], face_evidence.character_gain

    def recorded(*args):
        given.append(args[2])
        return gain(*args)

    monkeypatch.setattr(face_evidence, "character_gain", recorded)
    ranks = hypothesis.labels() >> RANK_BITS
    detect_faces(image, hypothesis, make_alphabet(enrolled[0].appearance.glyphs))
    asked, before = given[0] >> RANK_BITS, ranks.astype(int)
    is_beside = before[:, :-1] != before[:, 1:]
    nearer = np.maximum(before[:, :-1], before[:, 1:])
    assert is_beside.any()
    assert (asked[:, :-1][is_beside] >= nearer[is_beside]).all()
    assert (asked[:, 1:][is_beside] >= nearer[is_beside]).all()


def test_a_face_is_looked_for_again_behind_a_stack_that_was_found_in_front_of_it(enrolled, misled, monkeypatch):
    """A piece behind a pale tower was no piece, since the tower, not found yet, seemed to be its face."""
    image, hypothesis, _ = misled(0, 0)
    front, behind = (enrolled[0].kit.cells.index(name) for name in ("b5", "b6"))
    for cell, height in ((behind, 0), (front, 4)):
        scores = np.full_like(hypothesis.scores[[cell]], -30.0)
        scores[0, [0, 1 + height * hypothesis.colours]] = 0, -4
        hypothesis.set_scores(np.array([cell]), scores)
        hypothesis.assign(cell, 0)
    asked = []

    def gained(_image, candidates, labels, _alphabet, _others):
        owners = np.unique(candidates.owner)
        asked.append((len(owners), bool((labels >> RANK_BITS == hypothesis.geometry.rank[front]).any())))
        likeliest = likeliest_candidates(candidates)
        is_front = candidates.undisplaced.ranks[likeliest] == hypothesis.geometry.rank[front]
        gain = np.where(is_front, 3000, -5).astype(np.float32)
        return gain, np.minimum(gain, 0), candidates.undisplaced.select(likeliest)

    monkeypatch.setattr(face_evidence, "_in_question", lambda _: np.sort([front, behind]))
    monkeypatch.setattr(face_evidence, "character_gain", gained)
    detect_faces(image, hypothesis, make_alphabet(enrolled[0].appearance.glyphs))
    assert hypothesis.configuration_count(int(hypothesis.state[front])) == 5
    assert asked == [(2, False), (1, True)]


def test_of_two_squares_that_one_face_may_lie_on_the_likelier_one_has_it(enrolled, misled):
    """A face that may belong to a tower in front or to the stack behind it is attributed to the likelier one."""
    image, hypothesis, cell = misled(0, 0)
    front, height = tower_before(hypothesis, cell)
    for square, configuration, nats in ((cell, 2, -4), (front, height, -8)):
        scores = np.full_like(hypothesis.scores[[square]], -30.0)
        scores[0, [0, 1 + configuration * hypothesis.colours]] = 0, nats
        hypothesis.set_scores(np.array([square]), scores)
        hypothesis.assign(square, 0)
    appearance = enrolled[0].appearance
    detect_faces(image, hypothesis, make_alphabet(appearance.glyphs, appearance.ring_mm))
    assert hypothesis.glyph_log_ratio[cell].max() > 0
    assert hypothesis.glyph_log_ratio[front].max() <= 0


def test_a_stack_that_stands_has_its_face_at_any_height_that_is_as_likely(enrolled, misled):
    """A face at an equally likely greater height is attributed to the stack, not to a tower in front.

    The colours prefer a single piece to the true three by only 2 nats, and do not favour the tower.
    """
    image, hypothesis, cell = misled(0, 0)
    front, height = tower_before(hypothesis, cell)
    for square, likely in ((cell, {0: 40, 2: 38}), (front, {height: -8})):
        scores = np.full_like(hypothesis.scores[[square]], -30.0)
        scores[0, 0] = 0
        for configuration, nats in likely.items():
            scores[0, 1 + configuration * hypothesis.colours] = nats
        hypothesis.set_scores(np.array([square]), scores)
        hypothesis.assign(square, int(scores.argmax()))
    appearance = enrolled[0].appearance
    detect_faces(image, hypothesis, make_alphabet(appearance.glyphs, appearance.ring_mm))
    assert hypothesis.glyph_log_ratio[front].max() <= 0
    assert hypothesis.state[front] == 0


@pytest.mark.parametrize(("nats", "is_read_together", "is_raised"), [
    (-8, True, False),
    (-8, False, False),
    (8, True, True),
])  # fmt: skip
def test_a_face_is_that_of_the_stack_that_stands_there(enrolled, misled, nats, *, is_read_together, is_raised):
    """The character of a stack of three is none for a tower in front of it that is likelier not to stand.

    Whether the stack is read at the same time, or was before.  A tower that stands may have its face there.
    """
    image, hypothesis, cell = misled(0, 40)
    front, height = tower_before(hypothesis, cell)
    scores = np.full_like(hypothesis.scores[[front]], OUT_OF_REACH)
    scores[0, [0, 1, 1 + height * hypothesis.colours]] = 0, nats - 1, nats
    hypothesis.set_scores(np.array([front]), scores)
    hypothesis.assign(front, 1)
    alphabet = make_alphabet(enrolled[0].appearance.glyphs, enrolled[0].appearance.ring_mm)
    found = np.zeros((len(hypothesis.state), len(alphabet.letters)), np.float32)
    cells = np.sort([cell, front]) if is_read_together else np.array([front])
    located = read_on_cells(image, hypothesis, alphabet, cells, found, {}).located
    assert [one.cell for one in located if one.cell == front] == ([front] if is_raised else [])
    assert (np.ptp(found[front]) > 1) == is_raised
    assert hypothesis.glyph_log_ratio[front].max() <= 0


@pytest.mark.parametrize(("front", "behind", "pieces", "least", "most"), [
    ("b3", "b4", 1, 0, 0),
    ("b3", "b4", 8, 30, 40),
    ("b4", "b3", 4, 0, 0),
])  # fmt: skip
def test_what_is_read_behind_a_stack_speaks_against_that(enrolled, front, behind, pieces, least, most):
    """A face read behind a tower that would hide it counts against that tower.

    Faces in front of the tower do not count, nor does the face behind a single piece, which hides nothing of it.
    """
    reader, _, inferred = enrolled
    hypothesis, cells = inferred(), np.array([reader.kit.cells.index(name) for name in (front, behind)])
    chosen = np.array([pieces - 1, 0])
    faces = hypothesis.geometry.faces.select(cells * len(hypothesis.geometry.configurations.all) + chosen)
    hidden = hidden_nats(hypothesis, cells, chosen, faces, np.array([30.0, 40.0]))
    assert least <= hidden[0] <= most
    assert hidden[1] == 0


def test_ground_without_a_character_is_empty_where_colours_hardly_say_otherwise(enrolled):
    """Without a character, a piece that the colours prefer by 5 nats is removed."""
    reader, image, inferred = enrolled
    hypothesis, cell = inferred(), next(i for i, name in enumerate(reader.kit.cells) if name not in reader.kit.enrol)
    scores = hypothesis.scores[[cell]]
    scores[0, 1:] += 5.0 - scores[0, 1:].max()
    hypothesis.set_scores(np.array([cell]), scores)
    hypothesis.assign(cell, int(scores.argmax()))
    read_characters(image, hypothesis, make_alphabet(reader.appearance.glyphs))
    assert hypothesis.glyph_log_ratio[cell].max() < 0
    assert hypothesis.state[cell] == 0


def test_a_tower_is_found_of_which_only_lower_stacks_were_scored(enrolled, misled):
    """A tower is found by its face even if coordinate ascent stopped at lower stacks.

    It stops where the next higher stack is no likelier, as in front of a table that gives no evidence for the sides.
    """
    image, hypothesis, cell = misled(0, 0)
    scores = hypothesis.scores[[cell]]
    scores[0, 1:] = OUT_OF_REACH
    scores[0, 1 : 1 + 2 * hypothesis.colours] = -5
    hypothesis.set_scores(np.array([cell]), scores)
    hypothesis.assign(cell, 0)
    assert lacks_likeliest(hypothesis)[cell]
    read_characters(image, hypothesis, make_alphabet(enrolled[0].appearance.glyphs))
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == 3


def test_a_cell_is_searched_again_only_if_something_has_changed_there(enrolled, monkeypatch):
    """A search is repeated only if the labels on the face or the wanted scores have changed."""
    reader, image, inferred = enrolled
    hypothesis, searches, searched = inferred(), [], {}
    straight, labels = hypothesis.geometry.faces.select(np.arange(3)), hypothesis.labels()
    monkeypatch.setattr(
        face_reading, "search_face", lambda *given: searches.append(given) or FoundFace(straight, given[4], 0.0, 0.0)
    )
    occluded = labels.copy()
    x, y = straight.centres_px[0].astype(int)
    occluded[y, x] = (straight.ranks[0] + 1) << RANK_BITS
    elsewhere = labels.copy()
    elsewhere[:, -1] = (straight.ranks[0] + 1) << RANK_BITS
    for hidden, scores in ((labels, (1, 2, 3)), (elsewhere, (1, 2, 3)), (occluded, (1, 2, 3)), (labels, (1, 2, 4))):
        wanted = np.array(scores, np.float32)
        found = search_face_cached(image, straight, hidden, make_alphabet(reader.appearance.glyphs), wanted, searched)
        np.testing.assert_array_equal(found.letters, wanted)
    assert [len(searches), len(searched)] == [3, 3]


def test_of_stacks_without_a_character_those_are_removed_that_boundaries_do_not_show(enrolled):
    """A spurious stack without face or boundaries is removed; the true stacks stay."""
    reader, image, inferred = enrolled
    hypothesis, bare = inferred(), np.array([reader.kit.cells.index("b2")])
    standing = np.flatnonzero(hypothesis.state)
    # Simulate a shadow that the colour model has mistaken for a stack.
    seemingly = np.full_like(hypothesis.glyph_log_ratio[bare], 30 - hypothesis.isolated.scores[bare, 1:].max())
    hypothesis.set_glyph_log_ratio(bare, seemingly)
    hypothesis.invalidate(bare)
    converge(hypothesis)
    assert hypothesis.state[bare].all()
    assert remove_faceless(image, hypothesis, np.union1d(bare, standing))
    np.testing.assert_array_equal(np.flatnonzero(hypothesis.state), standing)
    assert not remove_faceless(image, hypothesis, standing)


def in_line(enrolled, table):
    """Return the reader, a picture of a table (cell name → stack), its hypothesis by colours, and cells b4 and b5."""
    reader, _, _ = enrolled
    kit, pose = reader.kit, default_pose(reader.kit, reader.camera)
    image = picture(
        kit, reader.camera, pose, random_light(random.Random(1)), [table.get(cell, "") for cell in kit.cells], 3, ()
    )
    geometry = reader.geometry(pose)
    hypothesis = infer(reader.observations(image, geometry, reader.light(image, pose)), RIM, geometry)
    return reader, image, hypothesis, (kit.cells.index("b4"), kit.cells.index("b5"))


def test_a_face_is_read_once_boundaries_have_removed_what_seemed_to_occlude_it(enrolled, monkeypatch):
    """A character is read after the wrong tower in front of it has been removed."""
    reader, image, hypothesis, (front, behind) = in_line(enrolled, {"b5": "a"})
    scores, tower = hypothesis.scores[[front]], 1 + 4 * hypothesis.colours
    scores[0, tower] = 30.0
    hypothesis.set_scores(np.array([front]), scores)
    hypothesis.assign(front, tower)

    read = characters.read_on_cells

    def read_but_for_one(image, hypothesis, alphabet, cells, found, searched):
        told = read(image, hypothesis, alphabet, cells, found, searched)
        return told._replace(faceless=np.array([behind])) if hypothesis.state[front] else told

    def remove_behind(_image, hypothesis, cells):
        np.testing.assert_array_equal(cells, [behind])
        hypothesis.set_scores(cells, hypothesis.scores[cells] - 99)
        return False

    def remove_front(_image, hypothesis, _cells):
        hypothesis.set_scores(np.array([front]), np.zeros_like(scores))
        hypothesis.assign(front, 0)

    monkeypatch.setattr(characters, "read_on_cells", read_but_for_one)
    monkeypatch.setattr(characters, "remove_faceless", remove_behind)
    monkeypatch.setattr(characters, "weigh_by_boundaries", remove_front)
    alphabet = make_alphabet(reader.appearance.glyphs)
    letters = read_characters(image, hypothesis, alphabet)
    assert hypothesis.scores[behind].max() > 0
    assert alphabet.letters[letters[behind].argmax()] == "a"


def test_a_stack_is_restored_that_the_face_of_a_higher_one_in_front_had_removed(enrolled, monkeypatch):
    """A stack without a face is looked at again once the one in front of it, taken for a lower one, is corrected."""
    reader, image, hypothesis, (front, behind) = in_line(enrolled, {"b4": "rRn", "b5": "a"})
    scores, lower = hypothesis.scores[[front]], 1 + hypothesis.colours
    scores[0, lower] = scores.max() + 3
    hypothesis.set_scores(np.array([front]), scores)
    hypothesis.assign(front, lower)

    def remove_faceless_once(_image, hypothesis, cells):
        if behind not in cells:
            return False
        hypothesis.set_glyph_log_ratio(cells, np.full_like(hypothesis.glyph_log_ratio[cells], -300))
        hypothesis.assign(behind, 0)
        return True

    monkeypatch.setattr(characters, "read_on_cells", without_a_face_at_first(characters.read_on_cells, behind))
    monkeypatch.setattr(characters, "remove_faceless", remove_faceless_once)
    alphabet = make_alphabet(reader.appearance.glyphs)
    letters = read_characters(image, hypothesis, alphabet)
    assert [hypothesis.configuration_count(int(hypothesis.state[cell])) for cell in (front, behind)] == [3, 1]
    assert alphabet.letters[letters[behind].argmax()] == "a"


def test_a_stack_is_judged_again_that_seemed_less_hidden_than_it_is(enrolled, monkeypatch):
    """A stack without a face is looked at again if the one in front has turned out to hide more of it since."""
    reader, image, hypothesis, (front, behind) = in_line(enrolled, {"b4": "rRn", "b5": "a"})
    right = int(hypothesis.state[front])
    hypothesis.assign(front, 0)

    def raise_front(_image, hypothesis, cells):
        if behind not in cells:
            return False
        hypothesis.set_glyph_log_ratio(cells, np.full_like(hypothesis.glyph_log_ratio[cells], -300))
        hypothesis.assign(behind, 0)
        hypothesis.assign(front, right)
        return True

    monkeypatch.setattr(characters, "detect_faces", lambda *_: None)
    monkeypatch.setattr(characters, "read_on_cells", without_a_face_at_first(characters.read_on_cells, behind))
    monkeypatch.setattr(characters, "_rescore_by_faces", lambda *_: (NO_CELLS, NO_CELLS))
    monkeypatch.setattr(characters, "remove_faceless", raise_front)
    alphabet = make_alphabet(reader.appearance.glyphs)
    letters = read_characters(image, hypothesis, alphabet)
    assert hypothesis.configuration_count(int(hypothesis.state[behind])) == 1
    assert alphabet.letters[letters[behind].argmax()] == "a"


def test_a_stack_is_read_again_that_is_occluded_otherwise_than_when_it_had_no_face(enrolled, monkeypatch):
    """A stack behind one that was taken for a lower one has a face once the height of that one is told by its own."""
    reader, image, hypothesis, (front, behind) = in_line(enrolled, {"b4": "rRn", "b5": "a"})
    right, read, calls = int(hypothesis.state[front]), characters.read_on_cells, []
    hypothesis.assign(front, 1)

    def without_a_face_while_low(image, hypothesis, alphabet, cells, found, *more):
        calls.append(cells.tolist())
        told = read(image, hypothesis, alphabet, cells, found, *more)
        if hypothesis.state[front] != right:
            found[behind] = 0
            return told._replace(faceless=np.array([behind]) if behind in cells else NO_CELLS)
        return told

    def raise_front_at_last(hypothesis, _known, _before=()):
        if len(calls) > 1:
            hypothesis.assign(front, right)
        return np.array([behind]) if len(calls) == 1 else NO_CELLS, NO_CELLS

    monkeypatch.setattr(characters, "detect_faces", lambda *_: None)
    monkeypatch.setattr(characters, "read_on_cells", without_a_face_while_low)
    monkeypatch.setattr(characters, "_rescore_by_faces", raise_front_at_last)
    monkeypatch.setattr(characters, "remove_faceless", lambda *_: False)
    alphabet = make_alphabet(reader.appearance.glyphs)
    letters = read_characters(image, hypothesis, alphabet)
    assert behind in calls[2]
    assert alphabet.letters[letters[behind].argmax()] == "a"


def test_heights_that_faces_have_told_stay_where_a_stack_beside_them_is_removed(enrolled, monkeypatch):
    """Colours alone do not tell again the height of a stack whose face was found, when its neighbour is removed."""
    reader, image, hypothesis, (front, _) = in_line(enrolled, {"b4": "rRn"})
    lower = 1 + hypothesis.colours

    def misled_by_colours(_image, hypothesis, _cells):
        scores = hypothesis.scores[[front]]
        scores[0, lower] = scores.max() + 15
        hypothesis.set_scores(np.array([front]), scores)
        hypothesis.assign(front, lower)
        return True

    monkeypatch.setattr(characters, "remove_faceless", misled_by_colours)
    monkeypatch.setattr(characters, "weigh_by_boundaries", lambda *_: None)
    read_characters(image, hypothesis, make_alphabet(reader.appearance.glyphs))
    assert hypothesis.configuration_count(int(hypothesis.state[front])) == 3


@pytest.mark.parametrize(("place", "is_kept"), [(2, True), (0, False)])
def test_evidence_for_heights_at_which_no_face_was_found_is_discarded(misled, place, *, is_kept):
    """Evidence for three pieces is kept if the face is then found at that height, and discarded if at another one."""
    _, hypothesis, cell = misled(0, 0)
    evidence = np.full((1, len(hypothesis.geometry.configurations.all)), -10, np.float32)
    evidence[0, 2] = 12
    hypothesis.set_glyph_log_ratio(np.array([cell]), evidence)
    shifts_mm = np.full((3, 2), 20.0, np.float32)
    shifts_mm[place] = 0
    face = hypothesis.faces_on(np.array([cell]))
    characters._discard_misplaced(hypothesis, [LocatedFace(cell, np.arange(3), shifts_mm, face)])
    assert hypothesis.glyph_log_ratio[cell].any() == is_kept


def test_a_tower_that_colours_alone_have_found_is_asked_about_by_boundaries(enrolled, monkeypatch):
    """A tower that would hide the stack behind it, found when more heights are scored, is split into a line again."""
    reader, image, hypothesis, (front, behind) = in_line(enrolled, {"b5": "a"})

    def raise_front(hypothesis, _cells):
        scores, tower = hypothesis.scores[[front]], 1 + 3 * hypothesis.colours
        scores[0, tower] = 7
        hypothesis.set_scores(np.array([front]), scores)
        hypothesis.assign(front, tower)

    heights = []

    def split(look, hypothesis, asked):
        split_lines(look, hypothesis, asked)
        states = hypothesis.state[[front, behind]].tolist()
        heights.append([hypothesis.configuration_count(state) if state else 0 for state in states])

    lacking = np.arange(len(hypothesis.state)) == front
    monkeypatch.setattr(face_evidence, "lacks_likeliest", lambda _: lacking)
    monkeypatch.setattr(face_evidence, "complete", raise_front)
    monkeypatch.setattr(face_evidence, "split_lines", split)
    detect_faces(image, hypothesis, make_alphabet(reader.appearance.glyphs))
    assert heights == [[0, 1]]


@pytest.fixture
def misled(enrolled):
    """Return a function that returns a picture of a stack of three, its hypothesis, and the cell.

    The hypothesis has the stack ``more`` pieces higher, by a lead of ``nats``.
    """
    reader, _, _ = enrolled
    kit, pose = reader.kit, default_pose(reader.kit, reader.camera)
    cell = kit.cells.index("c3")

    def of(more, nats):
        table = ["RpP" if number == cell else "" for number in range(len(kit.cells))]
        image = picture(kit, reader.camera, pose, random_light(random.Random(1)), table, 3, ())
        geometry = reader.geometry(pose)
        hypothesis = infer(reader.observations(image, geometry, reader.light(image, pose)), RIM, geometry)
        scores, wrong = hypothesis.scores[[cell]], 1 + (2 + more) * hypothesis.colours
        scores[0, wrong] = scores.max() + nats
        hypothesis.set_scores(np.array([cell]), scores)
        hypothesis.assign(cell, wrong)
        return image, hypothesis, cell

    return of


@pytest.mark.parametrize("lead", [-1, 1])
def test_a_height_that_colours_leave_in_doubt_is_told_by_the_size_of_the_ring(enrolled, misled, lead):
    """The apparent size of the ring corrects a height that is wrong by one piece with a lead of 3 nats."""
    image, hypothesis, cell = misled(lead, 3)
    before, geometry = hypothesis.scores[cell, 1:].max(), hypothesis.geometry
    straight = geometry.faces.select(np.array([cell * len(geometry.configurations.all) + 2]))
    faces, _ = centre_faces(image, straight, hypothesis.labels())
    weigh_by_rings(image, hypothesis, {cell: faces}, enrolled[0].appearance.ring_mm)
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == 3
    assert hypothesis.scores[cell, 1:].max() == pytest.approx(before)


@pytest.mark.parametrize("lead", [-1, 1])
def test_a_height_that_colours_leave_in_doubt_is_told_by_the_seams(misled, lead):
    """The seams between pieces correct a height that is wrong by one piece with a lead of 2 nats."""
    image, hypothesis, cell = misled(lead, 2)
    weigh_by_boundaries(image, hypothesis, np.array([cell]))
    assert hypothesis.configuration_count(int(hypothesis.state[cell])) == 3


def asked_about(hypothesis, cell, monkeypatch):
    """Return a list that grows by one entry per call of ``read_faces``.

    Each entry tells whether the faces to be read included that of a stack of three on ``cell``.
    """
    its_face_px = hypothesis.geometry.faces.centres_px[cell * len(hypothesis.geometry.configurations.all) + 2]
    read_faces, asked = face_reading.read_faces, []

    def spy(image, candidates, labels, alphabet):
        asked.append((candidates.undisplaced.centres_px == its_face_px).all(axis=1).any())
        return read_faces(image, candidates, labels, alphabet)

    monkeypatch.setattr(face_reading, "read_faces", spy)
    return asked


def test_a_face_that_was_found_is_looked_for_again_where_colours_have_changed_their_mind(enrolled, misled, monkeypatch):
    """A cell whose colours now favour another height is searched again, although a face was found there before.

    This happens when a stack is removed whose sides were in fact those of this one.
    """
    image, hypothesis, cell = misled(0, 0)
    alphabet, found = make_alphabet(enrolled[0].appearance.glyphs), np.zeros((len(hypothesis.state), 14), np.float32)
    known = read_on_cells(image, hypothesis, alphabet, np.array([cell]), found, {}).located
    scores, wrong = hypothesis.scores[[cell]], 1 + 3 * hypothesis.colours
    scores[0, wrong] = scores.max() + 20.0
    hypothesis.set_scores(np.array([cell]), scores)
    hypothesis.assign(cell, wrong)
    asked = asked_about(hypothesis, cell, monkeypatch)
    for before in ((), known):
        read_on_cells(image, hypothesis, alphabet, np.array([cell]), found, {}, before)
    assert asked == [False, True]
    assert alphabet.letters[found[cell].argmax()] == "P"


@pytest.mark.parametrize(("more", "is_asked"), [(1, False), (2, True)])
def test_what_seems_a_high_tower_is_looked_at_for_the_face_of_a_lower_stack(
    enrolled, misled, monkeypatch, more: int, *, is_asked: bool
):
    """A tower two pieces higher than the likeliest other height is checked for the lower stack's face."""
    image, hypothesis, cell = misled(more, 30.0)
    alphabet, found = make_alphabet(enrolled[0].appearance.glyphs), np.zeros((len(hypothesis.state), 14), np.float32)
    asked = asked_about(hypothesis, cell, monkeypatch)
    read_on_cells(image, hypothesis, alphabet, np.array([cell]), found, {})
    assert asked == [is_asked]
