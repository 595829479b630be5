"""Checks that an enrolment photograph shows the promised layout, and that what was learned can be told apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from calibration.appearance import Glyph, Reflectance, SetAppearance, nominal_appearance
from calibration.kit import Colour, Kit, PieceKind
from vision.appearance.piece_colours import median
from vision.capture.frames import Frame
from vision.errors import VisionError
from vision.glyphs.faces import Faces
from vision.glyphs.templates import bare_wood_log_likelihood, compare, empty_label_buffer, make_alphabet
from vision.inference.geometry import Geometry
from vision.inference.ground_hue import OFF_HUE
from vision.likelihood.hues import hue_of
from vision.reader import Reader
from vision.reading import CellState

Picture = npt.NDArray[np.uint8]

SAME_CHARACTER_NATS, FAINT_CHARACTER_NATS = -5.0, -2.0
"""Log-likelihood of one character on another's face above which they may be the same (two pieces with the same
character reach -1 to -5); and above which they are too small or too faint to be told apart."""

MIN_UNEXPLAINED = 0.15
"""Share of what is on a face that a different character must leave unexplained, where ink is faint: on 31 sets and
boards different characters left 0.23 and more, and on a painted one the same character on two pieces 0.02."""

MIN_PROBABILITY = 1e-4
"""Probability below which a square does not show what [enrol] promises.  It is this low because the promise is strong
evidence: in poor light a piece and its shadow can look like two."""

MIN_PROBABILITY_IF_EMPTY = 1e-3
"""The same where the square looks empty: the colour learned there is then the board's own, which explains it, too."""

APART_NATS, ALIKE_NATS = float(np.log(99)), float(np.log(19))
"""Log-likelihood ratios in nats by which the median piece is told from one of another colour where they were learned:
with less than the first, no such piece will ever be read with p 0.99, which is said; with less than the second, none
with p 0.95, which is refused.  In all sets of the collection, and for dark green pyramids of two shades, it was 8 at
least; for pale gray and green cubes (``diamond+s152010``) 4.6, of which 98 of 100 were then read right, no other one
surely; for two greens that nobody tells apart 4 at most."""


def without_empty_squares(
    image: Picture, reader: Reader, geometry: Geometry, stacks: Mapping[str, str]
) -> SetAppearance:
    """The reader's appearance, less what was learned on squares where nothing stands.

    Raises VisionError when the photograph, read with this appearance, does not show what ``stacks`` by cell promise.
    """
    kit, appearance = reader.kit, reader.appearance
    wrong = _layout_mismatches(image, reader, geometry, stacks)
    # A colour learned where a piece was promised, with a hue that the ground does not have, is that piece's.
    wrong = {cell: state for cell, state in wrong.items() if state[1] or not _is_off_hue(reader, stacks.get(cell, ""))}
    missing = {cell for cell, (_, top) in wrong.items() if cell in stacks and not top}
    tops = dict.fromkeys(stack[-1] for stack in stacks.values())
    there = {stack[-1] for cell, stack in stacks.items() if cell not in missing}
    absent = tuple(letter for letter in tops if letter not in there)
    if not wrong or appearance.glyphs or not 0 < len(absent) < len(tops) / 2:
        _raise_mismatch(kit, stacks, wrong)
        return replace(appearance, alike=check_colours(reader, stacks))
    pieces = {
        letter: _of_others(kit, appearance, letter, there) if letter in absent else colour
        for letter, colour in appearance.pieces.items()
    }
    appearance = replace(appearance, pieces=pieces, not_found=absent)
    again = Reader(kit, reader.camera, appearance, reader.levels)
    left = _layout_mismatches(image, again, geometry, stacks)
    _raise_mismatch(
        kit, stacks, {cell: state for cell, state in left.items() if stacks.get(cell, " ")[-1] not in absent}
    )
    found = {cell: stack for cell, stack in stacks.items() if stack[-1] not in absent}
    return replace(appearance, alike=check_colours(again, found))


def _is_off_hue(reader: Reader, stack: str) -> bool:
    """Whether the learned colour of a ``stack``'s uppermost piece differs in hue from every colour of the ground."""
    appearance = reader.appearance
    grounds = [appearance.floor] if appearance.column is None else [appearance.floor, appearance.column.top]
    if not stack or appearance.board is not None or None in grounds:
        return False
    apart = hue_of(np.array(appearance.pieces[stack[-1]])) - hue_of(np.array(grounds, np.float64))
    return bool((np.linalg.norm(apart, axis=1) > OFF_HUE).all())


def _of_others(kit: Kit, appearance: SetAppearance, letter: str, found: Collection[str]) -> Reflectance:
    """The colour of a piece not found: the median of those ``found`` with its colour in the kit, else the kit's."""
    alike = [appearance.pieces[other] for other in found if kit.piece(other).colour == kit.piece(letter).colour]
    return median(alike) if alike else nominal_appearance(kit).pieces[letter]


def _layout_mismatches(
    image: Picture, reader: Reader, geometry: Geometry, stacks: Mapping[str, str]
) -> dict[str, CellState]:
    """What is read on squares that do not show what ``stacks`` by cell promise, even in a direct comparison."""
    frame, broken = Frame(image, 0, 0.0), dict[str, CellState]()
    reading = reader.read_at(frame, geometry)
    for row, cell in enumerate(reading.cells):
        stack = stacks.get(cell, "")
        promised = [_shows_promised(state, stack, reader.appearance.glyphs) for state in reading.states]
        likeliest = reading.best(row)[0]
        least = MIN_PROBABILITY if likeliest[1] else MIN_PROBABILITY_IF_EMPTY
        if np.exp(reader.undiscounted_log_likelihood[row, promised]).sum() < least:
            broken[cell] = likeliest
    return {} if broken and _layout_is_likelier(frame, reader, stacks, broken) else broken


def _layout_is_likelier(frame: Frame, reader: Reader, stacks: Mapping[str, str], broken: dict[str, CellState]) -> bool:
    """Whether the table that ``stacks`` promise is likelier, as a whole, than with any or all of the ``broken`` cells.

    Read cell by cell, pieces in a line may each be taken for part of a tower on the first one.
    """
    promised: dict[str, CellState] = {}
    for cell, stack in stacks.items():
        fitting = [state for state in reader.states if _shows_promised(state, stack, {})]
        if not fitting:
            return False
        promised[cell] = fitting[0]
    nothing, every = reader.states[0], promised | broken
    one_each = [promised | {cell: other} for cell, state in broken.items() for other in (state, nothing)]
    # Where a picture shows something else altogether, trying each square takes time quadratic in their number.
    for others in ([every], [every, *one_each]):
        tables = [[table.get(cell, nothing) for cell in reader.kit.cells] for table in (promised, *others)]
        likely = reader.score(frame, tables)
        if likely[0] <= likely[1:].max():
            return False
    return True


def _raise_mismatch(kit: Kit, stacks: Mapping[str, str], wrong: Mapping[str, CellState]) -> None:
    """Raise VisionError for the first of the squares that are ``wrong``."""
    for cell, (height, top) in wrong.items():
        stack = stacks.get(cell, "")
        should = f"one {stack}" if len(stack) == 1 else stack or "nothing"
        seen = f"{height or 1} high, {top} on top" if top else "empty"
        # A kind may be taken for another where it mirrors a lamp.
        is_other = bool(stack and top and top != stack[-1])
        as_enrolled = (
            f"{cell} should hold {should} but looks {seen}; set the pieces as [enrol] says, where no lamp glares"
            if is_other
            else f"{cell} should hold {should} but looks {seen}; set the pieces as [enrol] says"
        )
        as_laid_out = (
            f"{cell} should hold {should} but looks {seen}; set the pieces as the layout says, where no lamp glares"
            if is_other
            else f"{cell} should hold {should} but looks {seen}; set the pieces as the layout says"
        )
        raise VisionError(as_enrolled if stacks == kit.enrol else as_laid_out)


def check_colours(reader: Reader, stacks: Mapping[str, str]) -> tuple[str, ...]:
    """Pairs of letters of kinds of one size that are hardly told apart by what ``reader`` has just read of them.

    Raises VisionError when they are not at all.  All sizes of the same two colours count together: small pieces show
    their colour less clearly.  ``stacks`` by cell are what was photographed.  Characters are compared with each other
    instead (:func:`check_distinct`).
    """
    kit, nats = reader.kit, dict[frozenset[Colour], list[tuple[float, str, str]]]()
    for cell, stack in () if reader.appearance.glyphs else stacks.items():
        own = kit.piece(stack[-1])
        likely = dict(
            zip(reader.states, reader.undiscounted_log_likelihood[kit.cells.index(cell)].tolist(), strict=True)
        )
        height = len(stack) if (len(stack), own.letter) in likely else None
        for other in kit.pieces:
            if other is not own and _size(other) == _size(own):
                ratio = likely[height, own.letter] - likely[height, other.letter]
                colours = frozenset((own.colour, other.colour))
                nats.setdefault(colours, []).append((ratio, *sorted((own.letter, other.letter))))
    alike = list[str]()
    for each in nats.values():
        apart, (_, one, second) = np.median([ratio for ratio, _, _ in each]), min(each)
        if apart < ALIKE_NATS:
            raise VisionError(
                f"{one} and {second} cannot be told apart by their colours here: "
                "take pieces whose colours differ more, or other light"
            )
        if apart < APART_NATS:
            alike.append(one + second)
    return tuple(alike)


def _size(kind: PieceKind) -> tuple[str, float, float]:
    return kind.shape, kind.width_mm, kind.height_mm


def _shows_promised(state: CellState, stack: str, glyphs: Mapping[str, Glyph]) -> bool:
    """Whether ``state`` is what ``stack`` promises; its top may be any piece where characters are being learned."""
    height, top = state
    if not stack:
        return height == 0
    return height in (len(stack), None) and (top == stack[-1] or stack[-1] in glyphs)


def check_distinct(image: Picture, shown: Mapping[str, str], faces: Faces, glyphs: Mapping[str, Glyph]) -> None:
    """Raise VisionError when two characters cannot be told apart, each matched against the other's face."""
    labels = empty_label_buffer(image)
    likely, _ = compare(image, faces, labels, make_alphabet(glyphs))
    np.fill_diagonal(likely, -np.inf)
    is_same = (likely > SAME_CHARACTER_NATS) & (
        likely > MIN_UNEXPLAINED * bare_wood_log_likelihood(image, faces, labels)[:, None]
    )
    is_alike = is_same | (likely > FAINT_CHARACTER_NATS)
    if is_alike.any():
        names = [f"{cell} ({letter})" for letter, cell in shown.items()]
        one, other = sorted(np.unravel_index(np.where(is_alike, likely, -np.inf).argmax(), likely.shape))
        raise VisionError(
            f"{names[one]} and {names[other]} look alike; set the pieces as [enrol] says, where they mirror no lamp; "
            "if they stand right, bring the camera nearer or take larger pictures: "
            f"a millimetre is only {faces.px_per_mm[one]:.1f} pixels wide there"
        )
