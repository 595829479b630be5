"""Kit files: those included load, and every mistake gives a one-line error."""

import pytest

from calibration.errors import ProfileError
from calibration.kit import KITS, available_kits, kit_name, load_kit, read_kit

DOMINATION = (KITS / "domination.toml").read_text(encoding="utf-8")


def broken(tmp_path, old, new):
    """Return the error for Domination's kit with ``old`` replaced by ``new``; it must be one line with the path."""
    path = tmp_path / "mine.toml"
    assert old in DOMINATION
    path.write_text(DOMINATION.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        read_kit(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_every_kit_that_comes_with_the_program_loads():
    """Every included kit loads, and its enrolment contains each kind of piece."""
    assert available_kits()
    for name in available_kits():
        kit = load_kit(name)
        assert kit.name == name
        assert set(kit.enrol) <= set(kit.cells)
        assert set(kit.enrol.values()) == {kind.letter for kind in kit.pieces}


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("domination/3", "domination"),
        ("diamond", "diamond"),
        ("draughts:russian", "draughts"),
        ("draughts:international", "draughts-10"),
        ("chess", "chess"),
    ],
)
def test_a_game_has_the_kit_made_for_its_variant_or_the_one_of_its_name(tag, name):
    """A game variant uses the kit made for it, or else the kit with the game's name."""
    assert kit_name(tag) == name


def test_a_kit_is_found_by_the_variant_that_it_is_made_for():
    """A variant's name selects only a kit made for that variant."""
    assert load_kit("draughts:international").name == "draughts-10"
    assert load_kit("diamond:table").name == "diamond"
    with pytest.raises(ProfileError, match=r"kit .draughts:russian. is not known; did you mean draughts\?"):
        load_kit("draughts:russian")


def test_no_two_kits_share_a_marker():
    """Marker numbers are unique across all kits of one dictionary."""
    kits = [load_kit(name) for name in available_kits()]
    taken = [(kit.mat.dictionary, marker.id) for kit in kits for marker in kit.mat.markers]
    assert len(set(taken)) == len(taken)


def test_cells_are_those_of_the_board_in_the_order_of_sensors():
    """Cells are ordered as the sensors, rank by rank, with their centres in mm."""
    kit = load_kit("domination")
    assert len(kit.cells) == 52
    assert kit.cells[:5] == ("c1", "d1", "e1", "f1", "b2")
    assert kit.centre_mm("c1") == (-49.5, -115.5)


def test_a_user_kit_is_a_file(tmp_path):
    """A path to a file is accepted in place of a kit's name."""
    path = tmp_path / "mine.toml"
    path.write_text(DOMINATION.replace("pitch_mm = 33.0", "pitch_mm = 34.5"), encoding="utf-8")
    kit = load_kit(str(path))
    assert (kit.name, kit.board.pitch_mm) == ("mine", (34.5, 34.5))


def test_a_marker_may_be_placed_by_its_corners(tmp_path):
    """A marker given by four corners may be rotated; its centre follows."""
    path = tmp_path / "mine.toml"
    turned = "{ id = 1, corners = [[185, -100], [208, -123], [185, -146], [162, -123]] }"
    path.write_text(DOMINATION.replace("{ id = 1, at = [185.0, -123.0] }", turned), encoding="utf-8")
    upright, marker, *_ = read_kit(path).mat.markers
    assert upright.corners_mm == ((-203, -105), (-167, -105), (-167, -141), (-203, -141))
    assert marker.at_mm == (185, -123)
    assert marker.corners_mm[0] == (185, -100)
    assert read_kit(path).mat.marker_mm == pytest.approx(36.0)


def test_one_marker_is_too_few(tmp_path):
    """A mat needs at least two markers."""
    head, _, rest = DOMINATION.partition("markers = [")
    path = tmp_path / "mine.toml"
    path.write_text(
        f"{head}markers = [ {{ id = 0, at = [0, 0] }} ]\n{rest.partition(chr(10) + ']')[2]}", encoding="utf-8"
    )
    with pytest.raises(ProfileError, match="at least 2 markers are needed, far apart"):
        read_kit(path)


def test_an_unknown_key_is_refused_with_the_nearest_right_name(tmp_path):
    """An unknown key is refused with the nearest valid one."""
    assert "pich_mm is not known; did you mean pitch_mm?" in broken(tmp_path, "files = 8", "files = 8\npich_mm = 3.0")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("files = 8", 'files = "eight"', "files must be int, got 'eight'"),
        ("files = 8", "files = true", "files must be int, got True"),
        ("files = 8", "files = 27", "files must be 1 to 26"),
        ("pitch_mm = 33.0", "pitch_mm = inf", "pitch_mm must be a finite number"),
        ("a1_mm = [-115.5, -115.5]", "a1_mm = [-115.5, inf]", "a1_mm must be 2 finite numbers"),
        ("files = 8", f"files = {10**400}", "files must be a finite number"),
        ("files = 8", "files = " + "9" * 5000, "is not TOML"),
        ('game = "domination"', 'game = "\\u0000"', "game must be one line of text"),
        ("pitch_mm = 33.0", "pitch_mm = -1", "pitch_mm must be greater than zero"),
        ("pitch_mm = 33.0", "pitch_mm = nan", "pitch_mm must be a finite number"),
        ("pitch_mm = 33.0\n", "", "pitch_mm is missing"),
        ("a1_mm = [-115.5, -115.5]", "a1_mm = [-115.5]", "a1_mm must be 2 finite numbers"),
        ('colour = "#b3202a"', 'colour = "red"', 'colour must be a colour "#rrggbb"'),
        ('shape = "disc"', 'shape = "disk"', "shape must be one of disc, cube, pyramid"),
        ('c5 = "R"', 'z9 = "R"', "z9 is no square of this board"),
        ('c5 = "R"', 'c5 = "Q"', "'Q' is no piece of this kit"),
        ("{ id = 1,", "{ id = 0,", "markers need ids that differ"),
        ("[board]", "[board", "is not TOML"),
        ('missing = ["a1"', 'missing = ["a1", "z1"', "missing names z1, which is no square"),
        ('"DICT_APRILTAG_36h11"', '"DICT_APRILTAG_36h12"', "did you mean DICT_APRILTAG_36h11?"),
        ('"DICT_APRILTAG_36h11"', '"DICT_4X4_50"\nmarker_mn = 3', "marker_mn is not known; did you mean marker_mm?"),
        ("{ id = 1,", "{ id = 587,", "id must be 0 to 586, the markers of DICT_APRILTAG_36h11"),
        ("marker_mm = 36 ", "", "marker_mm of the mat is missing; or give the marker's four corners"),
        ("at = [185.0, -123.0]", "corners = [[1, 2]]", "corners must be four points"),
        (
            "at = [185.0, -123.0]",
            "corners = [[170, -140], [200, -140], [200, -110], [170, -110]]",
            "corners must go clockwise round the marker",
        ),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path, old, new, said):
    """Each mistake is reported with file and key."""
    assert said in broken(tmp_path, old, new)


def test_a_kit_name_that_is_not_known_names_the_nearest():
    """An unknown name is refused with the nearest one."""
    with pytest.raises(ProfileError, match="did you mean domination"):
        load_kit("dominatoin")


def test_a_missing_or_binary_kit_file_is_one_line(tmp_path):
    """A missing file, and one that is not UTF-8, give a one-line error."""
    with pytest.raises(ProfileError, match="cannot be read"):
        load_kit(str(tmp_path / "none.toml"))
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProfileError, match="not UTF-8"):
        load_kit(str(tmp_path / "bad.toml"))


def test_the_kits_are_those_of_the_specification(shared):
    """The included kits are identical to those of the shared specification."""
    specified = sorted((shared / "spec" / "kits").glob("*.toml"))
    assert specified
    for path in specified:
        assert (KITS / path.name).read_bytes() == path.read_bytes()


def test_a_chequer_is_every_second_square():
    """Squares alternate in colour, starting dark at a1."""
    kit = load_kit("draughts")
    dark, light = kit.board.cell_colour, kit.board.chequer_colour
    assert [kit.ground(cell) for cell in ("a1", "b1", "a2", "b2", "h8")] == [dark, light, light, dark, dark]


def test_a_chequer_without_the_colour_of_a1_is_refused(tmp_path):
    """A chequered board needs the colour of both kinds of squares."""
    file = tmp_path / "draughts.toml"
    text = (KITS / "draughts.toml").read_text(encoding="utf-8")
    rows = [row for row in text.splitlines() if not row.startswith("cell_colour")]
    file.write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(ProfileError, match="give cell_colour, too"):
        read_kit(file)
