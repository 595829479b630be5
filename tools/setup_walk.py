"""Set up somebody's own board on the set-up page in a real browser, on the simulated table, up to the first verdict.

Prints how many seconds after the command was started each step was done.
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
from tools.stickered import GAME, corners_px, own_board
from tools.web_pictures import started

WAIT_MS = 120_000
WINDOW = {"width": 1280, "height": 900}


def free_port() -> int:
    """A port that the set-up can have, and the referee after it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def point_at(page: Page, flat: list[float]) -> None:
    """Touch these places (x, y, x, y, …), px of the camera's picture."""
    picture = page.locator("#live")
    width = default_camera().width_px
    expect(picture).to_have_js_property("naturalWidth", width, timeout=WAIT_MS)
    for x, y in zip(flat[::2], flat[1::2], strict=True):
        box = picture.bounding_box()
        assert box is not None
        scale = box["width"] / width
        page.mouse.click(box["x"] + (x + 0.5) * scale, box["y"] + (y + 0.5) * scale)


def written(kit: Kit) -> str:
    """The game's own kit file with the stickers in place of its markers."""
    text = (KITS / f"{GAME}.toml").read_text(encoding="utf-8")
    rows = (f"  {{ id = {m.id}, corners = {[list(corner) for corner in m.corners_mm]} }}," for m in kit.mat.markers)
    text = re.sub(r"(?ms)^markers = \[.*?^\]", "markers = [\n" + "\n".join(rows) + "\n]", text)
    text = re.sub(r"(?ms)^patches = \[.*?^\]\n", "", text)
    text = re.sub(r'(?m)^dictionary = "\w+"', f'dictionary = "{DICTIONARY}"', text)
    return re.sub(r"(?m)^marker_mm = \S+", f"marker_mm = {STICKER_MM:g}", text)


def press(page: Page, action: str) -> None:
    """Press a button, and wait until what it asks for is done."""
    with page.expect_response(re.compile(f"/setup/{action}$")):
        page.locator(f"#{action}").click()


def walk(page: Page, url: str, kit: Kit, begun_s: float) -> None:
    """From the page's first sight to the first verdict of the match."""

    def said(step: str) -> None:
        print(f"{time.monotonic() - begun_s:6.1f} s  {step}", flush=True)

    right = page.locator('#verdict[data-kind="accepted"]')
    page.goto(url)
    right.wait_for()
    said("the page shows the camera's picture")
    page.locator("#next").click()
    point_at(page, corners_px(kit))
    page.fill("#side", f"{kit.board.files * kit.board.pitch_mm[0]:g}")
    for action, step in (("measure", "measured"), ("learn-empty", "empty board")):
        press(page, action)
        right.wait_for()
        said(step)
        page.locator("#next").click()
    press(page, "learn-start")
    if not right.is_visible():
        said("asked for the pieces' size")
        for label, size_mm in (("Diameter, mm", kit.pieces[0].width_mm), ("Height, mm", kit.pieces[0].height_mm)):
            page.get_by_label(label).fill(f"{size_mm:g}")
        press(page, "size")
    right.wait_for()
    said("start position")
    page.get_by_role("button", name="Ready").click()
    page.locator("#begin").click()
    page.wait_for_url(re.compile(r"/$|/#"), timeout=WAIT_MS)
    said("the match's page")
    expect(page.locator("#verdict")).to_contain_text(re.compile("played"), timeout=WAIT_MS)
    said("first verdict")


def main() -> int:
    """Exit code 0 once the first verdict has been shown."""
    kit = own_board()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "own.toml"
        file.write_text(written(kit), encoding="utf-8")
        page = launched(playwright).new_page(viewport=WINDOW, locale="en-GB")
        page.set_default_timeout(WAIT_MS)
        begun_s = time.monotonic()
        words = (
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
        with started("setup", GAME, *words) as url:
            walk(page, url, kit, begun_s)
    return 0


if __name__ == "__main__":
    sys.exit(main())
