"""A kit: one physical set, in millimetres.  Mat with markers and patches, squares, pieces; a TOML file, never code.

World frame of every kit: origin at the middle of the mat, x to the first player's right, y away from the first
player, z up from the mat's upper face.  Colours are sRGB (r, g, b), each 0…255.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from pathlib import Path

from calibration.errors import ProfileError
from calibration.markers import marker_count
from calibration.toml import Corners, Point, Table, load

KITS = Path(__file__).parent / "kits"
Colour = tuple[int, int, int]
WHITE: Colour = (255, 255, 255)
GROUND: Colour = (216, 210, 192)
"""Colour in which squares are drawn to which a kit gives none."""

MIN_MARKERS = 2
"""One marker's four corners fix a pose only loosely (its tilt is ambiguous); two, far apart, fix it well."""

SHAPES = ("disc", "cube", "pyramid")
MAX_LEVEL = 1000
"""Most levels of a pillar, up or down."""

_FILES = "abcdefghijklmnopqrstuvwxyz"
MAX_FILES, MAX_RANKS = len(_FILES), 99


@dataclass(frozen=True, slots=True)
class Marker:
    """A printed square marker.

    ``at_mm`` is its centre; ``corners_mm`` are the corners of its black border, from its own top left clockwise, as
    ``cv2.aruco`` counts them.  Placed by its centre it stands upright: its own "up" points to +y.  ``is_measured``:
    somebody measured its corners with a ruler; else it was printed where it should be.
    """

    id: int
    at_mm: Point
    corners_mm: Corners
    is_measured: bool = False


@dataclass(frozen=True, slots=True)
class Patch:
    """A printed square of known colour, for light and white balance."""

    colour: Colour
    at_mm: tuple[float, float]
    size_mm: float


@dataclass(frozen=True, slots=True)
class Mat:
    """What carries markers: its size, markers (``cv2.aruco`` dictionary, largest outer edge), patches, paper colour.

    ``colour`` is None where it is not known.
    """

    width_mm: float
    height_mm: float
    colour: Colour | None
    dictionary: str
    marker_mm: float
    markers: tuple[Marker, ...]
    patches: tuple[Patch, ...]

    @property
    def is_measured(self) -> bool:
        """Whether somebody measured markers with a ruler: stickers round a board, and no printed sheet."""
        return any(marker.is_measured for marker in self.markers)

    @property
    def paper(self) -> Colour:
        """The colour that the sheet is drawn in."""
        return self.colour or WHITE


@dataclass(frozen=True, slots=True)
class Board:
    """The squares: counts, pitch, centre of a1, names of missing ones.  Terrain step is 0 where there is none.

    Where ``cell_colour`` is None the appearance of the squares is learned from photographs.  ``chequer_colour`` is that
    of every second square, b1 and a2 among them; None where all are alike.
    """

    files: int
    ranks: int
    pitch_mm: tuple[float, float]
    a1_mm: tuple[float, float]
    missing: frozenset[str]
    cell_colour: Colour | None
    line_colour: Colour
    terrain_step_mm: float
    terrain_colour: Colour
    chequer_colour: Colour | None = None


@dataclass(frozen=True, slots=True)
class Pillars:
    """Raisable pillars: at level n the top is at ``base_mm + n * step_mm``; noise: deviation of one raw reading."""

    side_mm: float
    base_mm: float
    step_mm: float
    lowest: int
    highest: int
    colour: Colour
    top_colour: Colour
    sensor_noise_mm: float


@dataclass(frozen=True, slots=True)
class Stacking:
    """How pyramids stack: rise of one put over a larger or equal one, and of a larger one over a smaller one."""

    tower_rise_mm: float
    keep_rise_mm: float


@dataclass(frozen=True, slots=True)
class PieceKind:
    """What a piece letter looks like.

    ``width_mm`` is a disc's diameter, a cube's side, a pyramid's base edge; a cube's height is its side.
    ``glyph`` is the character on a disc's upper face ("" for none).
    """

    letter: str
    shape: str
    width_mm: float
    height_mm: float
    colour: Colour
    glyph: str
    glyph_colour: Colour


@dataclass(frozen=True)
class Kit:
    """One physical set.  ``cells`` are the names of the existing squares in the order a1, b1, …, a2, …."""

    name: str
    game: str
    mat: Mat
    board: Board
    pieces: tuple[PieceKind, ...]
    pillars: Pillars | None
    stacking: Stacking | None
    enrol: Mapping[str, str]

    def __hash__(self) -> int:
        """Hash what tells kits apart, so that what is drawn with one can be cached."""
        return hash((self.name, self.game, self.board, self.pieces))

    @cached_property
    def cells(self) -> tuple[str, ...]:
        """Names of the existing squares."""
        return tuple(name for name in _names(self.board) if name not in self.board.missing)

    @cached_property
    def centres_mm(self) -> tuple[tuple[float, float], ...]:
        """World x, y of each square's centre."""
        return tuple(self.centre_mm(cell) for cell in self.cells)

    def ground(self, cell: str) -> Colour:
        """The colour that a square is drawn in."""
        other = self.board.chequer_colour
        return other if other is not None and sum(_place(cell)) % 2 else self.board.cell_colour or GROUND

    def centre_mm(self, cell: str) -> tuple[float, float]:
        """World x, y of a square's centre."""
        x, y = _place(cell)
        (left, low), (across, up) = self.board.a1_mm, self.board.pitch_mm
        return left + x * across, low + y * up

    def piece(self, letter: str) -> PieceKind:
        """The piece kind of a letter.  Raises KeyError when the kit has none."""
        return next(kind for kind in self.pieces if kind.letter == letter)


def _place(cell: str) -> tuple[int, int]:
    """File and rank of a square, each from 0 on."""
    return _FILES.index(cell[0]), int(cell[1:]) - 1


def available_kits() -> tuple[str, ...]:
    """Names of the kits that come with the program."""
    return tuple(sorted(path.stem for path in KITS.glob("*.toml")))


def kit_name(tag: str) -> str:
    """The kit that comes with the program for the game ``tag`` (``draughts:international``, ``domination/3``).

    One made for this variant, else the one of the game's name, whether or not that exists.
    """
    variant = tag.partition("/")[0]
    return next((name for name in available_kits() if load_kit(name).game == variant), variant.partition(":")[0])


def load_kit(name: str) -> Kit:
    """The kit of that name, of that file when ``name`` is a path, or made for that variant of a game.

    Raises ProfileError.
    """
    if name in available_kits():
        return read_kit(KITS / f"{name}.toml")
    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return read_kit(path)
    if (own := kit_name(name)) in available_kits() and (kit := load_kit(own)).game == name:
        return kit
    near = difflib.get_close_matches(name.partition(":")[0], available_kits(), n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(available_kits())}, or give a .toml file"
    raise ProfileError(f"kit {name!r} is not known; {hint}")


def read_kit(path: Path) -> Kit:
    """The kit of a TOML file.  Raises ProfileError naming file, key and what is expected."""
    top = Table(load(path), str(path))
    board = _board(top.table("board"))
    kit = Kit(
        name=path.stem,
        game=top.get("game", str),
        mat=_mat(top.table("mat")),
        board=board,
        pieces=_pieces(top.table("pieces")),
        pillars=_pillars(top.table("pillars")) if top.has("pillars") else None,
        stacking=_stacking(top.table("stacking")) if top.has("stacking") else None,
        enrol=_enrol(top.table("enrol")) if top.has("enrol") else {},
    )
    top.done()
    for one, other in indistinguishable(kit.pieces, {kind.letter: kind.colour for kind in kit.pieces}):
        raise ProfileError(f"{path}: pieces: {one} and {other} look alike; give them another colour, size or character")
    letters = {kind.letter for kind in kit.pieces}
    for cell, letter in kit.enrol.items():
        if cell not in kit.cells:
            raise ProfileError(f"{path}: enrol: {cell} is no square of this board")
        if letter not in letters:
            raise ProfileError(f"{path}: enrol: {cell} = {letter!r} is no piece of this kit")
    return kit


def _mat(table: Table) -> Mat:
    name = table.get("dictionary", str)
    edge_mm = table.length("marker_mm") if table.has("marker_mm") else None
    markers = [_marker(row, name, edge_mm) for row in table.tables("markers")]
    patches = []
    for row in table.tables("patches") if table.has("patches") else ():
        patches.append(Patch(row.colour("colour"), row.point("at"), row.length("size_mm")))
        row.done()
    mat = Mat(
        width_mm=table.length("width_mm"),
        height_mm=table.length("height_mm"),
        colour=table.colour("colour") if table.has("colour") else None,
        dictionary=name,
        marker_mm=max((_edge_mm(marker) for marker in markers), default=0.0),
        markers=tuple(markers),
        patches=tuple(patches),
    )
    table.done()
    if len(markers) < MIN_MARKERS:
        raise ProfileError(f"{table.where}: at least {MIN_MARKERS} markers are needed, far apart")
    if len({marker.id for marker in markers}) != len(markers):
        raise ProfileError(f"{table.where}: markers need ids that differ")
    return mat


def _edge_mm(marker: Marker) -> float:
    """The longest edge."""
    return max(math.dist(*side) for side in pairwise((*marker.corners_mm, marker.corners_mm[0])))


def _marker(table: Table, dictionary_name: str, edge_mm: float | None) -> Marker:
    """A marker placed by its centre (``at``), or by measured ``corners`` where it is turned or not quite square."""
    number, count = table.get("id", int), marker_count(dictionary_name, table.where)
    if not 0 <= number < count:
        raise ProfileError(f"{table.where}: id must be 0 to {count - 1}, the markers of {dictionary_name}")
    is_measured = table.has("corners")
    if is_measured:
        corners = table.corners("corners")
        at = (sum(x for x, _ in corners) / 4, sum(y for _, y in corners) / 4)
    elif edge_mm is None:
        raise ProfileError(f"{table.where}: marker_mm of the mat is missing; or give the marker's four corners")
    else:
        (x, y), half = table.point("at"), edge_mm / 2
        at, corners = (x, y), ((x - half, y + half), (x + half, y + half), (x + half, y - half), (x - half, y - half))
    table.done()
    return Marker(number, at, corners, is_measured)


def _board(table: Table) -> Board:
    board = Board(
        files=table.get("files", int),
        ranks=table.get("ranks", int),
        pitch_mm=_pitch(table),
        a1_mm=table.point("a1_mm"),
        missing=frozenset(map(str, table.get("missing", list, []))),
        cell_colour=table.colour("cell_colour") if table.has("cell_colour") else None,
        line_colour=table.colour("line_colour", "#5b5446"),
        terrain_step_mm=table.get("terrain_step_mm", float, 0.0),
        terrain_colour=table.colour("terrain_colour", "#d8d2c0"),
        chequer_colour=table.colour("chequer_colour") if table.has("chequer_colour") else None,
    )
    table.done()
    if board.chequer_colour is not None and board.cell_colour is None:
        raise ProfileError(f"{table.where}: chequer_colour is that of every second square; give cell_colour, too")
    if not (1 <= board.files <= MAX_FILES and 1 <= board.ranks <= MAX_RANKS):
        raise ProfileError(f"{table.where}: files must be 1 to {MAX_FILES} and ranks 1 to {MAX_RANKS}")
    if strange := board.missing - set(_names(board)):
        raise ProfileError(f"{table.where}: missing names {min(strange)}, which is no square of this board")
    return board


def _pitch(table: Table) -> tuple[float, float]:
    """From one square's centre to the next, to the right and away: a number, or two where squares are not square."""
    if not isinstance(table.get("pitch_mm", object), list):
        return (table.length("pitch_mm"),) * 2
    across, up = table.point("pitch_mm")
    if not (across > 0 and up > 0):
        raise ProfileError(f"{table.where}: pitch_mm must be greater than zero, got {[across, up]!r}")
    return across, up


def _names(board: Board) -> Iterator[str]:
    """Names of all squares, the missing ones too, in the order a1, b1, …, a2, …."""
    return (f"{_FILES[x]}{y + 1}" for y in range(board.ranks) for x in range(board.files))


def _pieces(table: Table) -> tuple[PieceKind, ...]:
    kinds = []
    for letter in table.names():
        if len(letter) != 1:
            raise ProfileError(f"{table.where}: {letter}: a piece is named by one letter")
        kinds.append(_piece(letter, table.table(letter)))
    if not kinds:
        raise ProfileError(f"{table.where}: at least one piece is needed")
    return tuple(kinds)


def _piece(letter: str, table: Table) -> PieceKind:
    shape = table.get("shape", str)
    if shape not in SHAPES:
        raise ProfileError(f"{table.where}: shape must be one of {', '.join(SHAPES)}, got {shape!r}")
    width_mm = table.length({"disc": "diameter_mm", "cube": "side_mm", "pyramid": "base_mm"}[shape])
    kind = PieceKind(
        letter=letter,
        shape=shape,
        width_mm=width_mm,
        height_mm=width_mm if shape == "cube" else table.length("height_mm"),
        colour=table.colour("colour"),
        glyph=table.get("glyph", str, ""),
        glyph_colour=table.colour("glyph_colour", "#000000"),
    )
    table.done()
    return kind


def indistinguishable(
    kinds: Sequence[PieceKind], colours: Mapping[str, tuple[float, float, float]]
) -> Iterator[tuple[str, str]]:
    """Pairs of letters of pieces that cannot be told apart: shape, size, character and colour are the same."""
    for one, other in combinations(kinds, 2):
        same = all(getattr(one, name) == getattr(other, name) for name in ("shape", "width_mm", "height_mm", "glyph"))
        if same and colours[one.letter] == colours[other.letter]:
            yield one.letter, other.letter


def _pillars(table: Table) -> Pillars:
    lowest, highest = table.numbers("levels", 2, -MAX_LEVEL, MAX_LEVEL)
    if lowest > highest:
        raise ProfileError(f"{table.where}: levels must be [lowest, highest]")
    pillars = Pillars(
        side_mm=table.length("side_mm"),
        base_mm=table.length("base_mm"),
        step_mm=table.length("step_mm"),
        lowest=int(lowest),
        highest=int(highest),
        colour=table.colour("colour"),
        top_colour=table.colour("top_colour"),
        sensor_noise_mm=table.length("sensor_noise_mm", 1.0),
    )
    table.done()
    return pillars


def _stacking(table: Table) -> Stacking:
    stacking = Stacking(table.get("tower_rise_mm", float), table.get("keep_rise_mm", float))
    table.done()
    return stacking


def _enrol(table: Table) -> Mapping[str, str]:
    return {cell: table.get(cell, str) for cell in table.names()}
