"""Permitted uses of OpenCV: no windows, and nothing that behaves differently in versions 4 and 5."""

import ast
from pathlib import Path

import cv2
import pytest

REPOSITORY = Path(__file__).parent.parent.parent
SOURCES = sorted(
    file
    for folder in ("calibration", "vision", "companion", "firmware_bridge", "tools", "tests")
    for file in (REPOSITORY / folder).rglob("*.py")
)
WINDOWS = {
    "imshow",
    "waitKey",
    "waitKeyEx",
    "pollKey",
    "namedWindow",
    "destroyWindow",
    "destroyAllWindows",
    "moveWindow",
    "resizeWindow",
    "setWindowTitle",
    "setWindowProperty",
    "getWindowProperty",
    "getWindowImageRect",
    "createTrackbar",
    "setMouseCallback",
    "selectROI",
    "selectROIs",
    "startWindowThread",
    "displayOverlay",
    "displayStatusBar",
}
"""HighGUI functions: without a display they terminate the process, which cannot be caught."""

GONE = {
    "detectMarkers",
    "estimatePoseSingleMarkers",
    "CascadeClassifier",
    "HOGDescriptor",
    "AKAZE_create",
    "BRISK_create",
}
"""Free functions and classes that OpenCV 5 lacks."""


def opencv_names(text):
    """Yield the names that a source takes from cv2 or cv2.aruco, with their line numbers."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            if owner in ("cv2", "aruco"):
                yield node.attr, node.lineno
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cv2"):
            yield from ((alias.name, node.lineno) for alias in node.names)


def test_the_search_finds_what_it_looks_for():
    """The search finds both imports and attribute accesses."""
    text = "import cv2\nfrom cv2 import waitKey\ncv2.imshow('a', b)\ncv2.aruco.detectMarkers(c)\nd.detectMarkers(c)\n"
    assert set(opencv_names(text)) == {("waitKey", 2), ("imshow", 3), ("detectMarkers", 4), ("aruco", 4)}


def test_no_window_is_ever_opened_and_nothing_is_used_that_opencv_5_lacks():
    """No source uses a HighGUI function or one that OpenCV 5 lacks."""
    found = [
        f"{file.relative_to(REPOSITORY)}:{line}: cv2.{name}"
        for file in SOURCES
        for name, line in opencv_names(file.read_text(encoding="utf-8"))
        if name in WINDOWS | GONE
    ]
    assert found == []


@pytest.mark.skipif(not cv2.__version__.startswith("4"), reason="all of them are there in version 4 only")
def test_the_names_of_windows_are_those_of_opencv():
    """The listed window functions all exist in OpenCV 4."""
    assert {name for name in WINDOWS if not hasattr(cv2, name)} == set()
