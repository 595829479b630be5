"""Set up a user's own board on the set-up page in a real browser, on the simulated table, up to the first verdict.

Prints for each step how many seconds after the start of the command it was completed.
"""

from __future__ import annotations

import re
import socket
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from calibration.kit import KITS, Kit
from calibration.stickers import DICTIONARY, STICKER_MM
from companion.simulate.viewpoint import default_camera
from tools.chromium import launched
from tools.stickered_board import GAME, corners_px, own_board
from tools.web_pictures import started

WAIT_MS = 120_000
WINDOW = {"width": 1280, "height": 900}


def free_port() -> int:
    """A free port, for the set-up and then for the referee."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def point_at(page: Page, corners_px: list[float]) -> None:
    """Click on the points (x, y, x, y, …), in px of the camera's picture."""
    picture = page.locator("#live")
    width = default_camera().width_px
    expect(picture).to_have_js_property("naturalWidth", width, timeout=WAIT_MS)
    for x, y in zip(corners_px[::2], corners_px[1::2], strict=True):
        box = picture.bounding_box()
        assert box is not None
        scale = box["width"] / width
        page.mouse.click(box["x"] + (x + 0.5) * scale, box["y"] + (y + 0.5) * scale)


def kit_text(kit: Kit) -> str:
    """The text of the game's kit file, with stickers in place of its markers and without colour patches."""
    text = (KITS / f"{GAME}.toml").read_text(encoding="utf-8")
    rows = (f"  {{ id = {m.id}, corners = {[list(corner) for corner in m.corners_mm]} }}," for m in kit.mat.markers)
    text = re.sub(r"(?ms)^markers = \[.*?^\]", "markers = [\n" + "\n".join(rows) + "\n]", text)
    text = re.sub(r"(?ms)^patches = \[.*?^\]\n", "", text)
    text = re.sub(r'(?m)^dictionary = "\w+"', f'dictionary = "{DICTIONARY}"', text)
    return re.sub(r"(?m)^marker_mm = \S+", f"marker_mm = {STICKER_MM:g}", text)


def press(page: Page, action: str) -> None:
    """Click a button, and wait for the response to its request."""
    with page.expect_response(re.compile(f"/setup/{action}$")):
        page.locator(f"#{action}").click()


def walk(page: Page, url: str, kit: Kit, begun_s: float) -> None:
    """Go from the set-up page to the first verdict of the match; ``begun_s``: start on the monotonic clock."""

    def report(step: str) -> None:
        print(f"{time.monotonic() - begun_s:6.1f} s  {step}", flush=True)

    success = page.locator('#verdict[data-kind="accepted"]')
    page.goto(url)
    success.wait_for()
    report("the page shows the camera's picture")
    page.locator("#next").click()
    point_at(page, corners_px(kit))
    page.fill("#side", f"{kit.board.files * kit.board.pitch_mm[0]:g}")
    for action, step in (("measure", "measured"), ("learn-empty", "empty board")):
        press(page, action)
        success.wait_for()
        report(step)
        page.locator("#next").click()
    press(page, "learn-start")
    if not success.is_visible():
        report("asked for the pieces' size")
        for label, size_mm in (("Diameter, mm", kit.pieces[0].width_mm), ("Height, mm", kit.pieces[0].height_mm)):
            page.get_by_label(label).fill(f"{size_mm:g}")
        press(page, "size")
    success.wait_for()
    report("start position")
    page.get_by_role("button", name="Ready").click()
    page.locator("#begin").click()
    page.wait_for_url(re.compile(r"/$|/#"), timeout=WAIT_MS)
    report("the match's page")
    expect(page.locator("#verdict")).to_contain_text(re.compile("played"), timeout=WAIT_MS)
    report("first verdict")


def main() -> int:
    """Run the set-up; return 0 after the first verdict."""
    kit = own_board()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "own.toml"
        file.write_text(kit_text(kit), encoding="utf-8")
        page = launched(playwright).new_page(viewport=WINDOW, locale="en-GB")
        page.set_default_timeout(WAIT_MS)
        begun_s = time.monotonic()
        arguments = (
            "--kit",
            str(file),
            "--simulate",
            "--panel",
            "none",
            "--web",
            f"127.0.0.1:{free_port()}",
            "-o",
            f"{folder}/table",
        )
        with started("setup", GAME, *arguments) as url:
            walk(page, url, kit, begun_s)
    return 0


if __name__ == "__main__":
    sys.exit(main())
