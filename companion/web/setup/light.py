"""Checks whether a camera's picture is bright and sharp enough."""

from __future__ import annotations

from typing import Any

import cv2

from vision.drawing import Picture
from vision.pose.registration import to_gray

DARK_CODE, BRIGHT_CODE, BRIGHT_SHARE = 45, 250, 0.12
"""Mean grey value below which a picture is dark; fraction of pixels over BRIGHT_CODE from which it is too bright."""


def light_row(image: Picture) -> dict[str, Any]:
    """Size, brightness and sharpness of a picture, (height, width, 3) uint8 BGR."""
    gray = to_gray(image)
    mean, bright = float(gray.mean()), float((gray > BRIGHT_CODE).mean())
    why = ""
    if mean < DARK_CODE:
        why = "too dark: switch a lamp on"
    elif bright > BRIGHT_SHARE:
        why = "too bright: lower the exposure, or turn the lamp away"
    # The variance of the Laplacian: the usual measure of focus (Pech-Pacheco et al. 2000).
    sharpness = float(cv2.Laplacian(gray, cv2.CV_64F).var())
    height, width = gray.shape
    return {"done": not why, "why": why, "width": width, "height": height, "sharpness": round(sharpness)}
