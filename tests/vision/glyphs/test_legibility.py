"""Faces located and read jointly, also across the edge of a shadow."""

import random

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from companion.simulate.viewpoint import default_camera, default_pose
from tools.boards import picture, random_light
from vision.enrolment import enrol
from vision.glyphs import legibility
from vision.glyphs.face_choice import Candidates, candidate_rings
from vision.glyphs.legibility import (
    MIN_LOG_PROBABILITY,
    _read_as_taken,
    _search_faint_nearby,
    _search_nearby,
    bare_faces,
    character_gain,
    face_gain,
    read_faces,
    scaled_by_scatter,
    search_face,
    with_faint_ones,
    with_unreadable,
)
from vision.glyphs.templates import compare, empty_label_buffer, make_alphabet
from vision.reader import Reader
from vision.scene.label_buffer import RANK_BITS

SHADOW = 0.55

ASIDE_MM = 1.1

HAZY = 0.3
"""Contrast that remains, as a share."""

NONE = np.zeros(0, np.intp)


@pytest.fixture(scope="module")
def enrolment():
    """Return an enrolment picture, the same with a shadow over the right part of each face, and what it shows.

    The latter are the faces, the alphabet, and the letters of the pieces.
    """
    kit, camera = load_kit("cheight"), default_camera()
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    image = picture(kit, camera, pose, light, [kit.enrol.get(cell, "") for cell in kit.cells], 0, ())
    reader = Reader(kit, camera, enrol(image, kit, camera))
    upright = reader.geometry(pose).faces
    heights = len(upright.ranks) // len(kit.cells)
    faces = upright.select(np.array([kit.cells.index(cell) * heights for cell in kit.enrol]))
    in_shadow, (row, column) = np.zeros(image.shape[:2], np.bool_), np.indices(image.shape[:2])
    for (x, y), to_picture in zip(faces.centres_px, faces.to_picture, strict=True):
        wide, high = np.abs(to_picture).sum(axis=1) * faces.radii_mm[0]
        in_shadow |= (np.abs(row - y) < high) & (column > x + wide / 4) & (column < x + wide)
    shaded = np.where(in_shadow[..., None], image * SHADOW, image)
    return (
        image,
        shaded.astype(np.uint8),
        faces,
        make_alphabet(reader.appearance.glyphs, reader.appearance.ring_mm),
        tuple(kit.enrol.values()),
    )


def one_each(faces):
    """Return ``faces`` (k) as the only candidates of as many cells."""
    return Candidates(faces, np.arange(len(faces.ranks)), np.zeros(len(faces.ranks)))


def letters_of(found, alphabet):
    """Return the likeliest letter of each face."""
    return tuple(alphabet.letters[number] for number in found.letters.argmax(axis=1))


def test_faces_in_even_light_are_read_as_they_are(enrolment):
    """Under uniform light all faces are read and none is normalised."""
    image, _, faces, alphabet, pieces = enrolment
    found, evened = read_faces(image, one_each(faces), empty_label_buffer(image), alphabet)
    assert letters_of(found, alphabet) == pieces
    assert found.is_legible.all()
    assert not len(evened)


def test_a_character_that_fits_badly_is_looked_for_beside_its_ring(enrolment):
    """A badly fitting character is searched around its ring; faces not asked about keep their result."""
    image, _, faces, alphabet, pieces = enrolment
    labels, everyone = empty_label_buffer(image), np.arange(len(pieces))
    as_they_are, _ = read_faces(image, one_each(faces), labels, alphabet)
    letters, beside = compare(image, as_they_are.faces.displaced(np.full((len(pieces), 2), ASIDE_MM)), labels, alphabet)
    misled = letters.max(axis=1)
    _search_nearby(image, labels, alphabet, (letters, beside), everyone[1:])
    np.testing.assert_allclose(letters.max(axis=1)[1:], as_they_are.letters.max(axis=1)[1:], atol=3)
    np.testing.assert_allclose(beside.centres_px[1:], as_they_are.faces.centres_px[1:], atol=1)
    assert tuple(alphabet.letters[number] for number in letters.argmax(axis=1)[1:]) == pieces[1:]
    assert letters[0].max() == misled[0] < as_they_are.letters[0].max() - 20, "that was not asked about"


def test_characters_are_read_whose_rings_are_found_aside(enrolment, monkeypatch):
    """A ring that is found 1.3 mm aside, as the edge of a shadow draws it, does not hide which character it is."""
    image, _, faces, alphabet, pieces = enrolment

    def aside(*given):
        found = candidate_rings(*given)
        return found._replace(faces=found.faces.displaced(np.full((len(found.faces.ranks), 2), 0.9)))

    monkeypatch.setattr(legibility, "candidate_rings", aside)
    found, _ = read_faces(image, one_each(faces), empty_label_buffer(image), alphabet)
    assert letters_of(found, alphabet) == pieces


def test_another_stack_s_face_is_not_taken_for_the_cell_s_own(enrolment):
    """Both rings are within reach and both characters fit; the scores by colour decide the stack's height."""
    image, _, faces, alphabet, pieces = enrolment
    for own in range(len(pieces)):
        both = faces.select(np.array([own, (own + 1) % len(pieces)]))
        candidates = Candidates(both, np.zeros(2, np.intp), np.array([12.0, 0.0]))
        found, evened = read_faces(image, candidates, empty_label_buffer(image), alphabet)
        assert letters_of(found, alphabet) == pieces[own : own + 1]
        assert not len(evened)


def test_a_face_is_left_to_the_stack_that_has_it_at_its_likeliest_height(enrolment):
    """A face is left to the stack at whose likeliest height it lies, even if another stack's own face is blurred.

    The clearer ring is that of the other stack, where a higher stack on the first cell would have its face. Without the
    other stack, that ring is taken.
    """
    image, _, faces, alphabet, pieces = enrolment
    blurred, labels = cv2.GaussianBlur(image, (0, 0), 1.8), empty_label_buffer(image)
    for own in range(len(pieces)):
        other, shown = (own + 1) % len(pieces), image.copy()
        (x, y), reach = np.rint(faces.centres_px[own]).astype(int), round(2 * faces.radii_mm[own])
        shown[y - reach : y + reach, x - reach : x + reach] = blurred[y - reach : y + reach, x - reach : x + reach]
        three = Candidates(faces.select(np.array([own, other, other])), np.array([0, 0, 1]), np.array([0.1, 0.0, 0.0]))
        found, _ = read_faces(shown, three, labels, alphabet)
        assert np.linalg.norm(found.faces.centres_px[0] - faces.centres_px[own]) < reach / 4
        alone, _ = read_faces(shown, three.select(np.array([0])), labels, alphabet)
        assert np.linalg.norm(alone.faces.centres_px[0] - faces.centres_px[other]) < reach / 4


def test_faces_across_the_edge_of_a_shadow_are_read_as_in_even_light(enrolment):
    """Faces across the edge of a shadow are read correctly after normalisation."""
    image, shaded, faces, alphabet, pieces = enrolment
    as_it_is, _ = read_faces(shaded, one_each(faces), empty_label_buffer(shaded), alphabet)
    assert letters_of(as_it_is, alphabet) == pieces
    deeper = np.where(shaded < image, shaded * 0.6, image).astype(np.uint8)
    found, evened = read_faces(deeper, one_each(faces), empty_label_buffer(deeper), alphabet)
    assert letters_of(found, alphabet) == pieces
    assert len(evened) > 0
    assert (found.letters.max(axis=1) - np.logaddexp.reduce(found.letters, axis=1))[evened].min() > MIN_LOG_PROBABILITY


def test_characters_say_that_something_stands_in_a_shadow_too_and_bare_ground_does_not(enrolment):
    """A shaded character is evidence for a piece, bare ground is evidence against one."""
    _, shaded, faces, alphabet, _ = enrolment
    for shown, sign in ((shaded, 1), (np.full_like(shaded, 170), -1)):
        gain, _, _ = character_gain(shown, one_each(faces), empty_label_buffer(shown), alphabet, faces.select(NONE))
        assert (sign * gain > 0).all()


def test_the_face_of_another_stack_speaks_for_nothing(enrolment):
    """A face already attributed to another stack is no evidence for a candidate."""
    image, _, faces, alphabet, _ = enrolment
    labels = empty_label_buffer(image)
    alone, _, found = character_gain(image, one_each(faces), labels, alphabet, faces.select(NONE))
    beside, _, _ = character_gain(image, one_each(faces), labels, alphabet, found.select(np.arange(3)))
    assert (alone > 0).all()
    assert (beside[:3] <= 0).all()
    np.testing.assert_allclose(beside[3:], alone[3:])


def test_of_several_rings_that_with_a_character_is_the_face(enrolment):
    """A blank ring at the place of another height is just as even, but has no character."""
    image, _, faces, alphabet, _ = enrolment
    own, elsewhere, painted = faces.centres_px[0], faces.centres_px[1], image.copy()
    turn = np.linspace(0, 2 * np.pi, 90)
    around_mm = np.column_stack([np.cos(turn), np.sin(turn)]) @ faces.to_picture[1].T
    face, line = (
        [np.rint(16 * (elsewhere + radius_mm * around_mm)).astype(np.int32)]
        for radius_mm in (faces.radii_mm[1], alphabet.ring_mm)
    )
    painted = cv2.fillPoly(painted, face, (120, 150, 170), cv2.LINE_AA, 4)
    painted = cv2.polylines(painted, line, True, (110, 138, 156), 2, cv2.LINE_AA, 4)
    either = Candidates(faces.select(np.array([0, 1])), np.zeros(2, np.intp), np.zeros(2))
    gain, _, found = character_gain(painted, either, empty_label_buffer(image), alphabet, faces.select(NONE))
    assert gain[0] > 0
    np.testing.assert_allclose(found.centres_px[0], own, atol=3)


def test_a_ring_without_a_character_speaks_for_its_own_place_alone(enrolment):
    """The likelier of two heights would have its face over bare ground, the other one where a ring is seen."""
    image, _, faces, alphabet, _ = enrolment
    turn, bare = np.linspace(0, 2 * np.pi, 90), np.full_like(image, 170)
    around_mm = np.column_stack([np.cos(turn), np.sin(turn)]) @ faces.to_picture[1].T
    line = np.rint(16 * (faces.centres_px[1] + alphabet.ring_mm * around_mm)).astype(np.int32)
    ringed = cv2.polylines(bare.copy(), [line], True, (120, 120, 120), 2, cv2.LINE_AA, 4)
    either = Candidates(faces.select(np.array([0, 1])), np.zeros(2, np.intp), np.array([8.0, 0.0]))
    by_ring, otherwise, found = character_gain(ringed, either, empty_label_buffer(image), alphabet, faces.select(NONE))
    np.testing.assert_allclose(found.centres_px[0], faces.centres_px[1], atol=3)
    assert otherwise[0] < -1 < by_ring[0]
    nothing, _, _ = character_gain(bare, either, empty_label_buffer(image), alphabet, faces.select(NONE))
    assert nothing[0] < by_ring[0]


def test_a_character_that_was_found_says_that_there_is_a_face_in_even_light_too(enrolment):
    """A character found is evidence for a face against bare wood; one that fits no better gives none."""
    image, shaded, faces, alphabet, pieces = enrolment
    everywhere, labels = np.arange(len(pieces)), empty_label_buffer(image)
    for shown in (image, shaded):
        found, evened = read_faces(shown, one_each(faces), labels, alphabet)
        bare = bare_faces(shown, found.faces, labels, np.isin(everywhere, evened))
        assert (face_gain(found.letters, bare) > 1).all()
        assert (face_gain(np.minimum(found.letters, bare[:, None]), bare) == 0).all()


def test_where_bare_wood_fits_better_than_any_character_none_is_told(enrolment):
    """If bare wood fits better than any character, all characters become equally likely."""
    image, _, faces, alphabet, pieces = enrolment
    labels = empty_label_buffer(image)
    found, _ = read_faces(image, one_each(faces), labels, alphabet)
    bare = bare_faces(image, found.faces, labels, np.zeros(len(pieces), np.bool_))
    np.testing.assert_allclose(with_unreadable(found.letters, bare).max(axis=1), found.letters.max(axis=1), atol=1e-3)
    untold = with_unreadable(found.letters, np.full_like(bare, found.letters.max() + 10))
    assert np.ptp(untold, axis=1).max() < 1e-3


def test_ink_that_explains_nothing_may_be_fainter_than_it_was(enrolment):
    """Where no character of usual contrast explains more than bare wood, faint ones tell which it is.

    Others are left as they are.
    """
    image, _, faces, alphabet, pieces = enrolment
    labels, everyone = empty_label_buffer(image), np.arange(len(pieces))
    own = np.array([alphabet.letters.index(piece) for piece in pieces])
    found, _ = read_faces(image, one_each(faces), labels, alphabet)
    for is_evened in np.zeros(len(pieces), np.bool_), everyone > 2:
        bare = bare_faces(image, found.faces, labels, is_evened)
        usual = with_faint_ones(image, found, labels, alphabet, bare, is_evened)
        np.testing.assert_array_equal(usual, found.letters)
        faint = hazy(image, faces)
        letters, _ = compare(faint, found.faces, labels, alphabet)
        bare, pale = bare_faces(faint, found.faces, labels, is_evened), found._replace(letters=letters)
        told = with_faint_ones(faint, pale, labels, alphabet, bare, is_evened)
        assert (bare > letters.max(axis=1)).all()
        np.testing.assert_array_equal(told.argmax(axis=1), own)
        assert (told.max(axis=1) > bare).all()


def test_even_light_is_no_clearer_where_characters_fit_worse_in_it(enrolment, monkeypatch):
    """A face is read as it was taken if its character is told less clearly there, but fits better, than in even light.

    Where all fit badly, they differ by more, as they scatter by more.
    """
    image, _, faces, alphabet, _ = enrolment
    find = legibility._find

    def as_seen(shown, seen, labels, alphabet):
        found = find(shown, seen, labels, alphabet)
        best, other = (-1.0, -3.0) if shown is image else (-9.0, -12.0)
        letters = np.full_like(found.letters, 4 * other)
        letters[:, 0], letters[:, 1] = (best, other) if shown is image else (other, best)
        return found._replace(letters=letters, is_legible=np.ones(len(letters), np.bool_))

    monkeypatch.setattr(legibility, "_find", as_seen)
    monkeypatch.setattr(legibility, "_read_as_taken", lambda _, again, *__: np.zeros(len(again.letters), np.bool_))
    found, evened = read_faces(image, one_each(faces), empty_label_buffer(image), alphabet)
    assert (found.letters.argmax(axis=1) == 0).all()
    assert not len(evened)


@pytest.mark.parametrize(("scores", "is_against"), [((0.2, -12.0), False), ((-12.0, 0.2), True)])
def test_bare_wood_speaks_against_a_piece_only_where_its_face_would_be(enrolment, scores, is_against):
    """One of the two heights has its face behind another stack, the other one over bare ground."""
    image, _, faces, alphabet, _ = enrolment
    bare, both = np.full_like(image, 170), faces.select(np.array([0, 1]))
    hidden = empty_label_buffer(image)
    x, y = both.centres_px[0].astype(int)
    hidden[y - 30 : y + 30, x - 30 : x + 30] = (both.ranks[0] + 1) << RANK_BITS
    nobody, given = np.zeros(2, np.intp), np.array(scores)
    gain, _, _ = character_gain(bare, Candidates(both, nobody, given), hidden, alphabet, faces.select(NONE))
    assert (gain[0] < -1) == is_against


def test_a_face_is_searched_across_the_edge_of_a_shadow(enrolment):
    """Each face is located and read across the edge of a shadow."""
    image, shaded, faces, alphabet, pieces = enrolment
    found, _ = read_faces(image, one_each(faces), empty_label_buffer(image), alphabet)
    for number, piece in enumerate(pieces):
        one = faces.select(np.array([number]))
        found_there = search_face(shaded, one, empty_label_buffer(shaded), alphabet, np.zeros(1))
        assert alphabet.letters[found_there.letters.argmax()] == piece
        assert found_there.gain > found_there.explains / 2 > 0
        np.testing.assert_allclose(found_there.face.centres_px, found.faces.centres_px[[number]], atol=1.5)


def test_a_character_that_is_too_faint_to_tell_a_face_may_still_tell_which_it_is(enrolment):
    """All faces reflect a window, which leaves little of their contrast."""
    image, _, faces, alphabet, pieces = enrolment
    faint = hazy(image, faces)
    found, _ = read_faces(faint, one_each(faces), empty_label_buffer(image), alphabet)
    assert letters_of(found, alphabet) == pieces
    assert not found.is_legible.all()


def test_a_faint_character_is_looked_for_beside_its_ring(enrolment):
    """Faint characters are found again from 2 mm beside their places, none of them wrongly."""
    image, _, faces, alphabet, pieces = enrolment
    faint, labels, everyone = hazy(image, faces), empty_label_buffer(image), np.arange(len(pieces))
    as_they_are, _ = read_faces(faint, one_each(faces), labels, alphabet)
    aside = as_they_are.faces.displaced(np.full((len(pieces), 2), 1.4))
    letters, beside = compare(faint, aside, labels, alphabet, is_faint=True)
    misled, own = letters.copy(), np.array([alphabet.letters.index(piece) for piece in pieces])
    _search_faint_nearby(faint, labels, alphabet, (letters, beside), everyone[1:])
    assert (letters.argmax(axis=1) == own).sum() > (misled.argmax(axis=1) == own).sum() + 3
    is_told = (letters != misled).any(axis=1)
    assert (letters.argmax(axis=1) == own)[is_told].all()
    assert not is_told[0]


def hazy(image, faces):
    """Return a picture with the contrast of ``faces`` reduced to :data:`HAZY`."""
    faint = image.astype(np.float64)
    for (x, y), to_picture in zip(faces.centres_px, faces.to_picture, strict=True):
        wide, high = np.abs(to_picture).sum(axis=1) * faces.radii_mm[0]
        part = faint[int(y - high) : int(y + high) + 1, int(x - wide) : int(x + wide) + 1]
        part += (1 - HAZY) * (np.median(part, axis=(0, 1)) - part)
    return np.rint(faint).astype(np.uint8)


def test_what_even_light_has_found_is_read_in_the_light_that_there_is_where_that_is_clearer(enrolment):
    """A face is read in the unnormalised picture if that is clearer; a blank picture changes nothing."""
    image, _, faces, alphabet, pieces = enrolment
    found, _ = read_faces(image, one_each(faces), empty_label_buffer(image), alphabet)
    count, uniform = len(pieces), np.full_like(found.letters, -5.0)
    again = found._replace(letters=uniform.copy(), is_legible=np.arange(count) % 2 == 0)
    assert _read_as_taken(image, again, empty_label_buffer(image), alphabet).all()
    assert letters_of(again, alphabet) == pieces
    assert again.is_legible.all()
    bare = np.full_like(image, 150)
    again = found._replace(letters=uniform.copy(), is_legible=np.arange(count) % 2 == 0)
    assert not _read_as_taken(bare, again, empty_label_buffer(bare), alphabet).any()
    assert (again.letters == uniform).all()


def test_characters_of_which_none_fits_are_hardly_told_apart():
    """Log-likelihoods of badly fitting characters are scaled down to small differences."""
    letters = np.array([[-140.0, -153.0, -160.0]], np.float32)
    scaled = scaled_by_scatter(letters, np.ones(1, np.float32))
    assert 3 < scaled[0, 0] - scaled[0, 1] < 5


@pytest.mark.parametrize("faint", [1.0, 0.2])
def test_characters_in_faint_ink_are_told_apart_where_one_fits(faint):
    """What characters in faint ink differ by counts for more where the likeliest one fits as much better."""
    letters = faint * np.array([[-4.0, -14.0, -24.0]], np.float32)
    scaled = scaled_by_scatter(letters, np.ones(1, np.float32))
    assert scaled[0, 0] - scaled[0, 1] > 12
    assert (np.diff(scaled[0]) < 0).all()


def test_the_less_of_a_face_is_visible_the_less_it_tells():
    """The same log-likelihoods differ less where less of the face is visible, and hardly where nothing is."""
    letters = np.repeat(np.array([[-2.0, -8.0]], np.float32), 4, axis=0)
    scaled = scaled_by_scatter(letters, np.array([1.0, 0.6, 0.3, 0.0], np.float32))
    apart = scaled[:, 0] - scaled[:, 1]
    assert (np.diff(apart) < 0).all()
    assert 0 < apart[3] < 0.5
