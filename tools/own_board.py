"""Render the pictures of docs/own-board.md: mat, stickers, and the board of `examples/own-board` with pieces."""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import pypdfium2

from calibration.camera import read_camera
from calibration.kit import Kit, load_kit
from calibration.sheets import mat_pdf
from calibration.stickers import stickers_pdf
from companion.commands.output.overlay import write_overlay
from companion.simulate.light import LAMP
from companion.simulate.placement import make_rng, set_up
from companion.simulate.render import Picture, Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_pose
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.reader import Reader

FOLDER = Path(__file__).parent.parent / "examples" / "own-board"
CAMERA = FOLDER.parent / "domination-1" / "camera.toml"
BOARD = {"b2": "A", "b3": "VT", "c3": "TAV", "d2": "V", "d5": "AATV", "e3": "TT", "e4": "A", "f1": "VA", "a6": "TVA"}
QUALITY = 88
"""JPEG quality."""

PICTURES = FOLDER.parent.parent / "docs" / "pictures"
MAT_SCALE, STICKERS_SCALE = 0.7, 0.9
"""Scale of the pictures of printed sheets: pixels per point of the page."""


def picture(kit: Kit, stacks: dict[str, str]) -> Picture:
    """(720, 1280, 3) uint8 BGR of stacks on a kit's board, in lamplight, with the camera of the example recording."""
    camera = read_camera(CAMERA)
    setup = set_up(tuple(stacks.get(cell, "") for cell in kit.cells), None, make_rng("own board", 1))
    return Renderer(Scene(kit, camera, default_pose(kit, camera), LAMP), 1).picture(setup, 0)


def main() -> int:
    """Write all pictures."""
    kit = load_kit(str(FOLDER / "six.toml"))
    for name, stacks in (("enrol.jpg", dict(kit.enrol)), ("board.jpg", BOARD)):
        cv2.imwrite(str(FOLDER / name), picture(kit, stacks), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    (sheet,) = pypdfium2.PdfDocument(mat_pdf(kit, "a3"))
    cv2.imwrite(str(PICTURES / "own-mat.png"), sheet.render(scale=MAT_SCALE).to_numpy())
    (sheet,) = pypdfium2.PdfDocument(stickers_pdf("a4"))
    sheet.render(scale=STICKERS_SCALE).to_pil().convert("L").save(PICTURES / "stickers.png", optimize=True)
    camera = read_camera(CAMERA)
    reader = Reader(kit, camera, enrol(cv2.imread(str(FOLDER / "enrol.jpg")), kit, camera))
    board = cv2.imread(str(FOLDER / "board.jpg"))
    write_overlay(PICTURES / "own-belief.jpg", reader, board, *reader.read_with_geometry(Frame(board, 0, 0.0)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
