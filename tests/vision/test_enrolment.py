"""Enrolment: learning a set's appearance from one photograph."""

import random
from dataclasses import replace
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from calibration.appearance import GLYPH_RADII, format_appearance, nominal_appearance, read_appearance
from calibration.kit import load_kit
from companion.app.ground import parse_layout
from companion.simulate.placement import make_rng, set_up
from companion.simulate.sprite import Scene, standing_solids
from companion.simulate.viewpoint import default_camera, default_pose
from tools.boards import nearest_pose, picture, random_camera, random_light, rendered
from vision import enrolment
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.enrolment_check import check_colours
from vision.errors import VisionError
from vision.glyphs.face_detection import centre_faces
from vision.reader import Reader
from vision.reading import EMPTY, Reading


def test_the_colours_of_a_set_are_learned(bench):
    """The learned reflectances have the expected dominant channels, and the floor its true colour."""
    appearance = enrol(bench.photos["enrol.jpg"].image, bench.kit, bench.camera)
    red, green, blue, yellow = (np.array(appearance.pieces[letter]) for letter in "RGBY")
    assert red.argmax() == 0
    assert green.argmax() == 1
    assert blue.argmax() == 2
    assert yellow[:2].min() > 4 * yellow[2]
    assert np.array(appearance.floor) == pytest.approx([0.69, 0.65, 0.53], abs=0.06)


def test_the_lower_part_of_a_rim_is_darker_than_the_upper(bench):
    """The lower half of the rim is darker, the upper half brighter than the mean."""
    rim = enrol(bench.photos["enrol.jpg"].image, bench.kit, bench.camera).rim
    assert np.mean(rim[:3]) < 0 < np.mean(rim[3:])


def test_a_photograph_of_something_else_is_refused_with_a_square(bench):
    """A photograph of another layout is refused, naming a cell."""
    with pytest.raises(VisionError, match=r"^[a-h][1-8] should hold (one [RGBY]|nothing) but looks"):
        enrol(bench.photos["domination-b-103.jpg"].image, bench.kit, bench.camera)


def misread(monkeypatch, cell, state):
    """Make every reader report ``state`` on ``cell``, which is wrong."""
    read_at = Reader.read_at

    def read(reader, frame, geometry):
        read_at(reader, frame, geometry)
        row, log_p = reader.kit.cells.index(cell), reader.undiscounted_log_likelihood
        log_p[row] = -50
        log_p[row, reader.states.index(state)] = 0
        return Reading(reader.kit.cells, reader.states, log_p, np.zeros(len(log_p)), frame.t_s)

    monkeypatch.setattr(Reader, "read_at", read)


def test_a_table_that_is_likelier_as_a_whole_is_not_refused_for_one_square(bench, monkeypatch):
    """One misread square does not refuse a photograph whose expected table is likelier as a whole.

    This happens where the first one of a line of pieces is read as a tower.
    """
    misread(monkeypatch, "d5", (6, "R"))
    assert enrol(bench.photos["enrol.jpg"].image, bench.kit, bench.camera).pieces
    without = photographed(bench.kit, bench.kit.enrol.keys() - {"d5"})
    with pytest.raises(VisionError, match=r"^d5 should hold one"):
        enrol(*without)


def photographed(kit, cells):
    """Return the arguments of ``enrol`` for a simulated table with pieces on ``cells`` of the [enrol] squares only."""
    camera, light = default_camera(), random_light(random.Random(2))
    singles = [kit.enrol[cell] if cell in cells else "" for cell in kit.cells]
    return picture(kit, camera, default_pose(kit, camera), light, singles, 0, ()), kit, camera


def test_a_piece_that_is_missing_is_named_and_the_others_are_learned(bench):
    """A missing piece is listed and keeps its nominal colour; the others are learned."""
    whole = enrol(*photographed(bench.kit, bench.kit.enrol))
    appearance = enrol(*photographed(bench.kit, ["d5", "e5", "f5"]))
    assert appearance.not_found == ("R",)
    assert appearance.pieces["R"] == nominal_appearance(bench.kit).pieces["R"]
    assert appearance.pieces["G"] == pytest.approx(whole.pieces["G"], abs=0.02)


def test_a_piece_that_is_read_as_bare_ground_is_not_missing_where_its_hue_was_learned(bench, monkeypatch):
    """This happens with a pale green cube on a grey pillar."""
    misread(monkeypatch, next(cell for cell, letter in bench.kit.enrol.items() if letter == "G"), EMPTY)
    monkeypatch.setattr(Reader, "score", lambda *_: np.zeros(9))
    appearance = enrol(bench.photos["enrol.jpg"].image, bench.kit, bench.camera)
    assert appearance.not_found == ()
    assert appearance.pieces["G"] != nominal_appearance(bench.kit).pieces["G"]


def test_a_size_that_is_missing_has_the_colour_of_the_others_of_its_set():
    """A missing size gets the mean colour of the other sizes of its set."""
    kit = load_kit("ziggurat")
    appearance = enrol(*photographed(kit, [cell for cell, letter in kit.enrol.items() if letter != "q"]))
    assert appearance.not_found == ("q",)
    others = [appearance.pieces[letter] for letter in "dw"]
    assert appearance.pieces["q"] == pytest.approx(np.mean(others, axis=0))


def test_a_photograph_without_half_of_the_pieces_is_refused(bench):
    """A photograph with half of the pieces missing is refused."""
    with pytest.raises(VisionError, match=r"^[cd]5 should hold one [RG] but looks empty"):
        enrol(*photographed(bench.kit, ["e5", "f5"]))


def test_a_kit_without_enrolment_squares_says_so(bench):
    """A kit without [enrol] cells is refused."""
    with pytest.raises(VisionError, match=r"has no \[enrol\] squares"):
        enrol(bench.photos["enrol.jpg"].image, replace(bench.kit, enrol={}), bench.camera)


def test_two_kinds_of_one_colour_are_refused_by_name(bench):
    """This holds even if their nominal colours in the kit differ clearly."""
    red = next(kind.colour for kind in bench.kit.pieces if kind.letter == "R")
    nearly = tuple(channel + 3 for channel in red)
    painted = tuple(replace(kind, colour=nearly) if kind.letter == "G" else kind for kind in bench.kit.pieces)
    image, _, camera = photographed(replace(bench.kit, pieces=painted), bench.kit.enrol)
    with pytest.raises(VisionError, match=r"^G and R cannot be told apart by their colours here: take pieces whose"):
        enrol(image, bench.kit, camera)


def reader_with(apart_nats):
    """Return a stub of a reader that has read single pyramids.

    ``apart_nats``: by capital letter, the lead of each true pyramid over the same size in the other colour.
    """
    kit = load_kit("ziggurat")
    states = tuple((None, letter) for letter in "QDWqdw")
    log_likelihood = np.full((len(kit.cells), len(states)), -30.0)
    for cell, letter in kit.enrol.items():
        row = log_likelihood[kit.cells.index(cell)]
        row[states.index((None, letter))] = 0.0
        row[states.index((None, letter.swapcase()))] = -apart_nats[letter.upper()]
    return SimpleNamespace(
        kit=kit, states=states, undiscounted_log_likelihood=log_likelihood, appearance=SimpleNamespace(glyphs={})
    )


def test_colours_that_all_but_the_smallest_pieces_tell_apart_are_taken():
    """A person distinguishes them by the large pieces; the small ones are read with less certainty."""
    reader = reader_with({"Q": 9.0, "D": 7.0, "W": 2.0})
    assert check_colours(reader, reader.kit.enrol) == ()


def test_colours_that_most_pieces_hardly_tell_apart_are_taken_and_named():
    """Where some pieces will never be read with certainty, the least distinguishable pair is named."""
    reader = reader_with({"Q": 9.0, "D": 4.0, "W": 2.0})
    assert check_colours(reader, reader.kit.enrol) == ("Ww",)


def test_colours_that_most_pieces_do_not_tell_apart_are_refused_with_those_that_do_so_least():
    """If most pieces are confused, the least distinguishable pair is named."""
    reader = reader_with({"Q": 5.0, "D": 2.5, "W": 2.0})
    with pytest.raises(VisionError, match=r"^W and w cannot be told apart"):
        check_colours(reader, reader.kit.enrol)


def test_two_pieces_with_the_same_character_are_refused_by_name():
    """Two pieces with the same character are refused, with their cells and the size of the strokes."""
    rng = random.Random(5)
    kit, camera = load_kit("cheight"), random_camera(rng)
    pieces = {**kit.enrol, "a4": "R"}
    pose, light = nearest_pose(kit, camera, 55.0, 200.0), random_light(rng)
    image = picture(kit, camera, pose, light, [pieces.get(cell, "") for cell in kit.cells], 5)
    with pytest.raises(VisionError, match=r"d3 \(R\) and a4 \(N\) look alike; .* only 1\.[0-9] pixels wide there$"):
        enrol(image, kit, camera)


@pytest.mark.parametrize(("ink", "is_told"), [((108, 78, 71), True), ((132, 95, 87), False)])
def test_faint_characters_are_refused_only_where_nothing_tells_them_apart(ink, is_told):
    """Faint characters differ by little, but by the same share of the ink on a face as others."""
    rng = random.Random(5)
    kit, camera = load_kit("cheight"), random_camera(rng)
    kit = replace(kit, pieces=tuple(replace(kind, colour=(151, 109, 100), glyph_colour=ink) for kind in kit.pieces))
    pose, light = nearest_pose(kit, camera, 55.0, 200.0), random_light(rng)
    image = picture(kit, camera, pose, light, [kit.enrol.get(cell, "") for cell in kit.cells], 5)
    if is_told:
        assert len(enrol(image, kit, camera).glyphs) == len(kit.pieces)
    else:
        with pytest.raises(VisionError, match="look alike"):
            enrol(image, kit, camera)


def test_a_rim_that_is_dark_on_one_side_moves_no_character():
    """A lamp beside the board shades the bevel on one side; the centre must be found from the print inside it."""
    rng = random.Random(8)
    kit, camera = load_kit("cheight"), random_camera(rng)
    visibility = Scene(kit, camera, nearest_pose(kit, camera, 55.0, 200.0), random_light(rng))
    setup = set_up([kit.enrol.get(cell, "") for cell in kit.cells], None, make_rng("rims", 8))
    even = rendered(visibility, setup, 8)
    dark = even.copy()
    for cell, pile in zip(kit.cells, setup.piles, strict=True):
        for solid in standing_solids(kit, cell, pile, None):
            face = solid.points[list(solid.top)]
            apart = face - face.mean(axis=0)
            apart *= kit.pieces[0].width_mm / 2 / np.linalg.norm(apart, axis=1, keepdims=True)
            shade = 0.45 * apart @ [0.5, 0.8, 0.0] / np.linalg.norm(apart, axis=1)
            for share in np.linspace(0.88, 1.0, 12):
                column, row = np.rint(visibility.project(face.mean(axis=0) + share * apart)).astype(int).T
                dark[row, column] = np.clip(even[row, column] * (1 + shade[:, None]), 0, 255)
    appearances = [enrol(image, kit, camera) for image in (even, dark)]
    for letter, glyph in appearances[0].glyphs.items():
        apart = np.frombuffer(glyph, np.uint8).astype(float) - np.frombuffer(appearances[1].glyphs[letter], np.uint8)
        inner = apart.reshape(GLYPH_RADII, -1)[: GLYPH_RADII * 3 // 4]
        assert np.abs(inner).mean() < 8


def test_characters_are_learned_as_if_evenly_lit(monkeypatch):
    """A lamp mirrored on one side of each face, or the edge of a soft shadow there, is no part of its character.

    Both are centred alike here: such light also moves the centres of faces, by up to a pixel.
    """
    rng = random.Random(8)
    kit, camera = load_kit("cheight"), random_camera(rng)
    visibility = Scene(kit, camera, nearest_pose(kit, camera, 55.0, 200.0), random_light(rng))
    setup = set_up([kit.enrol.get(cell, "") for cell in kit.cells], None, make_rng("light", 8))
    even = rendered(visibility, setup, 8)
    x = np.broadcast_to(np.arange(even.shape[1]), even.shape[:2])
    uneven = even.astype(float)
    for cell, pile in zip(kit.cells, setup.piles, strict=True):
        for solid in standing_solids(kit, cell, pile, None):
            outline = visibility.project(solid.points[list(solid.top)])
            left, right = outline[:, 0].min(), outline[:, 0].max()
            on_face = cv2.fillPoly(np.zeros(even.shape[:2], np.uint8), [np.rint(outline).astype(np.int32)], 1) > 0
            uneven[on_face] *= 0.75 + 0.25 * ((x - left) / (right - left))[on_face][:, None]
    plain = enrol(even, kit, camera).glyphs
    centre = enrolment._centre_inked_faces
    monkeypatch.setattr(enrolment, "_centre_inked_faces", lambda _, *known: centre(even, *known))
    levelled = enrol(uneven.astype(np.uint8), kit, camera).glyphs
    for letter, glyph in plain.items():
        apart = np.frombuffer(glyph, np.uint8).astype(float) - np.frombuffer(levelled[letter], np.uint8)
        assert np.abs(apart.reshape(GLYPH_RADII, -1)[: GLYPH_RADII * 3 // 4]).mean() < 2


def test_a_character_that_seems_even_about_another_point_is_centred_on_its_ring(monkeypatch):
    """Through a webcam that sharpens, that point may be 3 mm off: the other faces tell how large its ring must be."""
    rng = random.Random(8)
    kit, camera = load_kit("cheight"), random_camera(rng)
    pose, light = nearest_pose(kit, camera, 55.0, 200.0), random_light(rng)
    image = picture(kit, camera, pose, light, [kit.enrol.get(cell, "") for cell in kit.cells], 8)
    right = enrol(image, kit, camera).glyphs

    def misled(image, faces, labels, ring_mm=None):
        found, likely = centre_faces(image, faces, labels, ring_mm)
        steps_mm = np.zeros((len(likely), 2))
        steps_mm[0] = (0.0, 3.0)
        return found.displaced(steps_mm) if ring_mm is None else found, likely

    monkeypatch.setattr("vision.enrolment.centre_faces", misled)
    assert enrol(image, kit, camera).glyphs == right


def test_characters_on_pieces_of_two_colours_are_read():
    """The set is made of light and of dark wood."""
    rng = random.Random(8)
    kit, camera = load_kit("cheight"), random_camera(rng)
    dark = (150, 175, 200)
    kit = replace(kit, pieces=tuple(replace(p, colour=dark) if p.letter.islower() else p for p in kit.pieces))
    pose, light = nearest_pose(kit, camera, 55.0, 200.0), random_light(rng)
    enrolled = picture(kit, camera, pose, light, [kit.enrol.get(cell, "") for cell in kit.cells], 8)
    stacks = [
        "" if rng.random() < 0.6 else "".join(rng.choices("RNBACPKrnbacpk", k=rng.randint(1, 3))) for _ in kit.cells
    ]
    reader = Reader(kit, camera, enrol(enrolled, kit, camera))
    reading = reader.read(Frame(picture(kit, camera, pose, light, stacks, 8), 0, 0.0))
    read = [reading.best(row)[0] for row in range(len(stacks))]
    assert read == [(len(stack), stack[-1] if stack else None) for stack in stacks]


def test_a_piece_that_is_taken_for_another_is_no_trouble():
    """Seen from low behind the board, an unknown small pyramid looks as if it had no lateral face."""
    rng = random.Random(503)
    kit, camera = load_kit("ziggurat"), random_camera(rng)
    pose = nearest_pose(kit, camera, rng.uniform(36.0, 46.0), rng.uniform(0, 360))
    image = picture(kit, camera, pose, random_light(rng), [kit.enrol.get(cell, "") for cell in kit.cells], 503)
    assert enrol(image, kit, camera).pieces.keys() == {kind.letter for kind in kit.pieces}


@pytest.fixture(scope="module")
def own():
    """Return pictures of a board without known colours, in one light, its kit, camera and layouts.

    The pictures show it empty, at the start of a game, with the enrolment pieces, and with stacks.
    """
    rng, printed = random.Random(4), load_kit("domination")
    kit = replace(
        printed,
        mat=replace(printed.mat, colour=None, patches=()),
        board=replace(printed.board, cell_colour=None),
        pieces=tuple(kind for kind in printed.pieces if kind.letter in "RG"),
        enrol={"d4": "R", "e5": "G"},
    )
    camera = random_camera(rng)
    pose, light = nearest_pose(printed, camera, 58.0, 250.0), random_light(rng)
    start = parse_layout("start", kit)
    stacks = {"c4": "RG", "e2": "G", "f6": "RRG", "d7": "R", "b3": "GR"}
    layouts = ({}, start, kit.enrol, stacks)
    shown = [picture(kit, camera, pose, light, [layout.get(cell, "") for cell in kit.cells], 4) for layout in layouts]
    return kit, camera, start, stacks, shown


@pytest.mark.parametrize("empties", [0, 1])
@pytest.mark.parametrize("shown", ["start", "enrol"])
def test_the_appearance_of_a_board_is_learned(own, empties, shown):
    """A reader with the learned board reads stacks correctly, learned from a start position or single pieces.

    Without an empty picture, parts of the board stay unseen.
    """
    kit, camera, start, stacks, (empty, at_start, single, played) = own
    image, layout = (at_start, start) if shown == "start" else (single, None)
    appearance = enrol(image, kit, camera, layout=layout, empty=[empty] * empties)
    assert appearance.board is not None
    assert (appearance.board.seen == 0).any() == (empties == 0)
    reading = Reader(kit, camera, appearance).read(Frame(played, 0, 0.0))
    read = {cell: reading.best(row)[0] for row, cell in enumerate(reading.cells)}
    assert {cell: state for cell, state in read.items() if state[0]} == {
        cell: (len(stack), stack[-1]) for cell, stack in stacks.items()
    }


def test_pieces_nearly_of_the_learned_boards_own_colour_are_found():
    """Each pixel's colour favours the board, whose appearance is known more precisely than that of the pieces."""
    rng, printed = random.Random(6), load_kit("ziggurat")
    red, green, blue = (round(1.2 * c) for kind in printed.pieces if kind.letter == "Q" for c in kind.colour)
    painted = replace(printed, board=replace(printed.board, cell_colour=(red, green, blue)))
    kit = replace(
        painted, mat=replace(printed.mat, colour=None, patches=()), board=replace(painted.board, cell_colour=None)
    )
    camera = random_camera(rng)
    pose, light = nearest_pose(printed, camera, 52.0, 250.0), random_light(rng)
    empty, single, played = (
        picture(painted, camera, pose, light, [layout.get(cell, "") for cell in kit.cells], 6)
        for layout in ({}, kit.enrol, dict.fromkeys(("c4", "e2", "b5"), "Q"))
    )
    reading = Reader(kit, camera, enrol(single, kit, camera, empty=[empty])).read(Frame(played, 0, 0.0))
    tops = {cell: top for row, cell in enumerate(reading.cells) if (top := reading.best(row)[0][1])}
    assert tops.keys() == {"c4", "e2", "b5"}
    assert all(top.isupper() for top in tops.values())


def test_a_learned_board_is_kept_with_its_set(own, tmp_path):
    """The learned board survives a round trip through the set file."""
    kit, camera, _, _, (empty, _, single, _) = own
    appearance, file = enrol(single, kit, camera, empty=[empty]), tmp_path / "set.toml"
    file.write_text(format_appearance(appearance), encoding="utf-8")
    again = read_appearance(file, kit)
    assert again.board is not None
    assert appearance.board is not None
    np.testing.assert_allclose(again.board.colour, appearance.board.colour, atol=0.003)
    assert again.floor == pytest.approx(appearance.floor, abs=1e-4)


@pytest.fixture(scope="module")
def chequered():
    """Return a printed chequered kit, its camera, stacks, and pictures of single pieces and of the stacks.

    Some of the men lie on light squares.
    """
    rng, kit = random.Random(11), load_kit("draughts")
    camera = random_camera(rng)
    pose, light = nearest_pose(kit, camera, 52.0, 230.0), random_light(rng)
    stacks = {"c3": "W", "d4": "BB", "e5": "WW", "a1": "B", "h8": "W", "f5": "W", "c4": "B"}
    shown = [
        picture(kit, camera, pose, light, [at.get(cell, "") for cell in kit.cells], 4) for at in (kit.enrol, stacks)
    ]
    return kit, camera, stacks, shown


@pytest.mark.parametrize("is_enrolled", [False, True])
def test_a_printed_chequer_is_read_and_pieces_on_its_light_squares_too(chequered, is_enrolled):
    """Stacks are read on both colours of a printed chequer, with and without enrolment."""
    kit, camera, stacks, (single, played) = chequered
    appearance = enrol(single, kit, camera) if is_enrolled else nominal_appearance(kit)
    reading = Reader(kit, camera, appearance).read(Frame(played, 0, 0.0))
    read = {cell: reading.best(row)[0] for row, cell in enumerate(reading.cells)}
    assert {cell: state for cell, state in read.items() if state[0]} == {
        cell: (len(stack), stack[-1]) for cell, stack in stacks.items()
    }


def test_the_colours_of_a_chequer_are_learned_as_they_were_printed(chequered):
    """Enrolment corrects wrong nominal colours of the chequer, also under a piece."""
    kit, camera, _, (single, _) = chequered
    promised = replace(kit, board=replace(kit.board, cell_colour=(60, 130, 90), chequer_colour=(200, 190, 160)))
    board = enrol(single, promised, camera).board
    assert board is not None
    assert (board.seen > 0).all()
    (x, y), (rows, columns) = kit.centre_mm("c5"), board.seen.shape  # beneath a piece
    under = board.colour[round(rows / 2 - y), round(columns / 2 + x)]
    assert under * 255 == pytest.approx(kit.board.cell_colour, abs=12)
