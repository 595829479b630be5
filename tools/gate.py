"""Measure the motion gate on videos of hands, as filmed and through simulated worse webcams.

Usage: ``python -m tools.gate RECORDING…``.  Each RECORDING is a folder with recording.toml, camera.json, video.mp4 and
truth.jsonl, as those beside the repository.  Prints for each webcam: still frames with motion (false positives),
frames with a hand and detected motion, hands detected in their first or second frame, and the largest number of frames
from a hand's leaving until no motion is detected.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.kit import Kit, load_kit
from companion.simulate.webcam import Webcam
from vision.motion import MotionDetector
from vision.pose.projection import Points

WEBCAMS = {
    "as filmed": Webcam(),
    **{f"noise {noise}": Webcam(noise=noise) for noise in (1, 4, 12)},
    "noise 1, sharpened, JPEG 72": Webcam(noise=1, sharpening=1.1, quality=72),
    "noise 6, sharpened, JPEG 60": Webcam(noise=6, sharpening=1.6, quality=60),
    "noise 12, sharpened, JPEG 90": Webcam(noise=12, sharpening=1.1, quality=90),
    "drift 10 %": Webcam(noise=1, drift=0.1),
    "50 Hz in bands, 10 %": Webcam(noise=1, flicker=0.1, fps=11.97),
    "60 Hz in bands, 10 %": Webcam(noise=1, flicker=0.1, mains_hz=60, fps=11.97),
    "50 Hz at once, 10 %": Webcam(noise=1, flicker=0.1, readout_s=0, fps=11.97),
}


@dataclass
class Tally:
    """Counts for one webcam.

    Attributes:
        still: frames without a hand.
        false_motion: frames without a hand in which motion is detected.
        hand_frames: frames with a hand.
        hand_motion: frames with a hand in which motion is detected.
        hands: number of hands.
        seen: hands that are detected in their first or second frame.
        calm_delay: largest number of frames with detected motion between a hand's leaving and the first calm frame.
    """

    still: int = 0
    false_motion: int = 0
    hand_frames: int = 0
    hand_motion: int = 0
    hands: int = 0
    seen: int = 0
    calm_delay: int = 0


def main() -> int:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", nargs="+", type=Path)
    parser.add_argument("--acts", type=int, default=5, help="number of acts to measure of each recording")
    options = parser.parse_args()
    tallies = {name: Tally() for name in WEBCAMS}
    for folder in options.recordings:
        measure(folder, options.acts, tallies)
    print("| webcam | still frames that move | frames with a hand that move | hands seen at once | calm found after |")
    print("| --- | --- | --- | --- | --- |")
    for name, tally in tallies.items():
        counts = f"{tally.false_motion} of {tally.still} | {tally.hand_motion} of {tally.hand_frames}"
        print(f"| {name} | {counts} | {tally.seen} of {tally.hands} | ≤ {tally.calm_delay} frames |")
    return 0


def measure(folder: Path, acts: int, tallies: dict[str, Tally]) -> None:
    """Run the gate over the first ``acts`` of a recording, and add the counts to ``tallies``."""
    info = tomllib.loads((folder / "recording.toml").read_text(encoding="utf-8"))
    rows = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()[:acts]]
    frames = round(rows[-1]["t_calm_to"] * info["fps"])
    own = folder / "kit.toml"
    kit = load_kit(str(own) if own.is_file() else info["kit"])
    gates = {name: gate_for(folder, info, kit) for name in WEBCAMS}
    moving: dict[str, list[bool]] = {name: [] for name in WEBCAMS}
    for number, image in enumerate(islice(frames_of(folder / "video.mp4"), frames)):
        for name, webcam in WEBCAMS.items():
            moving[name].append(gates[name].process(webcam.take(image, number)).moving)
    for name, tally in tallies.items():
        count(np.array(moving[name]), rows, info["fps"], tally)


def count(moving: np.ndarray[Any, np.dtype[np.bool_]], rows: list[dict[str, Any]], fps: float, tally: Tally) -> None:
    """Add the frames of one video to ``tally``; the first is ignored, as it has no predecessor to differ from.

    ``moving`` (frames,): whether motion was detected; ``rows``: ground truth of the acts.
    """
    still = np.ones(len(moving), bool)
    still[0] = False
    for row in rows:
        begin, end, calm_to = (round(row[key] * fps) for key in ("t_hand_from", "t_hand_to", "t_calm_to"))
        still[begin : end + 1] = False
        tally.hand_frames += end - begin
        tally.hand_motion += int(moving[begin:end].sum())
        tally.hands, tally.seen = tally.hands + 1, tally.seen + bool(moving[begin : begin + 2].any())
        calm = moving[end:calm_to]
        tally.calm_delay = max(tally.calm_delay, len(calm) if calm.all() else int(calm.argmin()))
    tally.still, tally.false_motion = tally.still + int(still.sum()), tally.false_motion + int((still & moving).sum())


def frames_of(path: Path) -> Any:
    """Yield the frames of a video, (height, width, 3) uint8 BGR."""
    video = cv2.VideoCapture(str(path))
    while (read := video.read())[0]:
        yield np.asarray(read[1], np.uint8)


def gate_for(folder: Path, info: dict[str, Any], kit: Kit) -> MotionDetector:
    """A motion gate that knows the mat's corners from the recording's ground truth of the camera."""
    truth = json.loads((folder / "camera.json").read_text(encoding="utf-8"))
    matrix, distortion, rotation, centre_mm = (np.array(truth[key], float) for key in ("K", "dist", "R", "C"))
    gate = MotionDetector(kit, Camera(info["width"], info["height"], matrix, distortion, 0.0))
    x, y = kit.mat.width_mm / 2, kit.mat.height_mm / 2
    corners = np.array([(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)])
    turn = cv2.Rodrigues(rotation)[0]
    corners_px: Points = cv2.projectPoints(corners, turn, -rotation @ centre_mm, matrix, distortion)[0][:, 0]
    gate.set_region(corners_px)
    return gate


if __name__ == "__main__":
    sys.exit(main())
