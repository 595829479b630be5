"""How surfaces are lit: display values that a surface may show, sampled from the dichromatic reflection model.

A surface of reflectance a in light l has the radiance ``s * a * l + w * l``: s for angle and shade, w for specular
reflection (Shafer, Using color to separate reflection components, 1985).  A part of s may come from the board, in its
colour: an interreflection (Forsyth and Zisserman, Reflections on shading, 1991).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.srgb import display

Variates = npt.NDArray[np.float32]

SAMPLES = 20_000
"""Samples per material.  Chosen by eye."""

MAX_MIRRORED = 0.2
"""Largest diffuse highlight of a lamp in lacquer, as a share of white paper's light.  Chosen by eye."""

MAX_GLARE = 0.8
"""The same where the lamp itself is mirrored.  Chosen by eye."""

MATT_SHARE, MIRRORED_BY_MATT = 0.5, 0.03
"""Share of pieces that are matt, and their mean specular reflection.  If all were lacquered, a pale piece might be any
pale colour, as ground in shadow is; if all were matt, towers would be lost whose enrolled colours mirror a lamp."""

MIRRORED = MIRRORED_BY_MATT * -np.log(1 - (np.arange(4) + 0.5) / 4)
"""(4,) equally likely specular reflections: quantiles of the exponential distribution of matt pieces.  They change the
hue of a dark colour more than its light does: blue pyramids were as near to brown ones' hue as to their own
(`own-r97005`: 7.2 to 2.1 nats; on `own-art` 0.5 to 0.3, on four folders of printed mats alike), and dark blue discs to
that of a black square (`own-r97010`: 69.6 to 48.6 nats; on eight other boards 37.9 to 37.0)."""

MAX_INTERREFLECTED = 0.95
"""Largest share of a surface's light that the board reflects onto it."""

SENSOR_NOISE = 0.02
"""Standard deviation of a pixel in display space (5 codes of 255): shot noise, read noise and JPEG of a dim picture.
Chosen by eye."""


@dataclass(frozen=True, slots=True)
class Shading:
    """How a kind of surface is lit; light is relative to white paper's.

    Attributes:
        lit: probability of full light; else it is in shade.
        spread: standard deviation of the logarithm of full light.
        shade: range of light in shade.
        mirrored: mean specular reflection.
        tint: standard deviation of the logarithm of each channel.
        glare: probability that the lamp itself is mirrored.
        bleached: probability that it was mirrored when the colour was enrolled.
        interreflected: the most light, r g b, that the board reflects onto it; it is part of the light above.
    """

    lit: float
    spread: float
    shade: tuple[float, float]
    mirrored: float
    tint: float
    glare: float = 0.0
    bleached: float = 0.0
    interreflected: tuple[float, float, float] = (0.0, 0.0, 0.0)


class _Common(NamedTuple):
    """Random numbers that all surfaces share, (SAMPLES,) or per channel (SAMPLES, 3).

    Noise is that of the sensor; other normal and exponential ones are standard, others uniform from 0 to 1.
    """

    is_lit: Variates
    light: Variates
    shade: Variates
    tint: Variates
    is_matt: Variates
    matt: Variates
    lacquer: Variates
    mirrored: Variates
    has_glare: Variates
    glare: Variates
    noise: Variates
    interreflected: Variates


@cache
def _common() -> _Common:
    """The same for each surface, so that no difference of two surfaces is due to chance (common random numbers)."""
    rng, single = np.random.default_rng(0), np.float32  # a fixed seed: the same picture gives the same reading
    return _Common(
        is_lit=rng.random(SAMPLES, single),
        light=rng.standard_normal(SAMPLES, single),
        shade=rng.random(SAMPLES, single),
        tint=rng.standard_normal((SAMPLES, 3), single),
        is_matt=rng.random(SAMPLES, single),
        matt=rng.standard_exponential(SAMPLES, single),
        lacquer=rng.random(SAMPLES, single),
        mirrored=rng.standard_exponential(SAMPLES, single),
        has_glare=rng.random(SAMPLES, single),
        glare=rng.random(SAMPLES, single),
        noise=SENSOR_NOISE * rng.standard_normal((SAMPLES, 3), single),
        interreflected=rng.random(SAMPLES, single),
    )


def sample_display_values(reflectance: npt.NDArray[np.float64], shading: Shading) -> npt.NDArray[np.float32]:
    """(SAMPLES, 3) float32 display values, at least 0, of a surface of ``reflectance`` (3,) or (SAMPLES, 3), r g b."""
    by, surface, light = _common(), reflectance.astype(np.float32), _light(shading)
    # One picture does not tell the specular part of the enrolled colour: it may be any part of the white in it.
    most = np.minimum(np.float32(MAX_MIRRORED), surface.min(axis=-1))
    white = np.where(by.is_matt < MATT_SHARE, np.minimum(MIRRORED_BY_MATT * by.matt, most), most * by.lacquer)
    if shading.bleached:
        lamps = round(SAMPLES * shading.bleached)
        white[:lamps] = surface.min() * np.linspace(0, 1, lamps)
    radiance = (surface - white[:, None]) * light.diffuse + light.mirrored[:, None]
    return np.maximum(display(radiance) + by.noise, 0)


def mirroring(reflectances: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(…, 4, 3) what surfaces of these ``reflectances`` (…, 3) send back of white light, with each of `MIRRORED`."""
    radiance: npt.NDArray[np.float64] = reflectances[..., None, :] + MIRRORED[:, None]
    return radiance


class _Light(NamedTuple):
    """Light (SAMPLES, 3) that a kind of surface may reflect diffusely, and light (SAMPLES,) that it may mirror."""

    diffuse: Variates
    mirrored: Variates


@lru_cache(maxsize=2)
def _light(shading: Shading) -> _Light:
    """All colours of a kind of surface are lit alike, and drawn one after the other."""
    by, (low, high) = _common(), shading.shade
    strength = np.where(by.is_lit < shading.lit, np.exp(shading.spread * by.light), low + (high - low) * by.shade)
    mirrored = shading.mirrored * by.mirrored
    if shading.glare:
        mirrored = np.where(by.has_glare < shading.glare, MAX_GLARE * by.glare, mirrored)
    tint = np.exp(shading.tint * by.tint) * _interreflection_tint(shading, strength)
    return _Light(strength[:, None] * tint, mirrored)


def _interreflection_tint(shading: Shading, strength: Variates) -> Variates:
    """(SAMPLES, 3) float32 light relative to its mean over the channels, ``strength`` (SAMPLES,)."""
    colour = np.array(shading.interreflected, np.float32)
    share = np.minimum(_common().interreflected * colour.mean() / strength, MAX_INTERREFLECTED)
    tint: Variates = 1 + share[:, None] * (colour / max(colour.mean(), 1e-6) - 1)
    return tint
