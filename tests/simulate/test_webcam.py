"""Image degradations of a simulated webcam."""

import numpy as np
import pytest

from companion.simulate.webcam import Webcam

GREY = np.full((72, 128, 3), 128, np.uint8)
EDGE = np.where(np.arange(128)[:, None] < 64, 60, 190).astype(np.uint8) * np.ones((72, 1, 3), np.uint8)


def test_a_camera_without_faults_takes_the_picture_as_it_is():
    assert np.array_equal(Webcam().take(EDGE, 3), EDGE)


def test_the_same_number_is_the_same_frame():
    webcam = Webcam(noise=5, sharpening=1, quality=70, drift=0.1, flicker=0.1, shake_px=1)
    assert np.array_equal(webcam.take(EDGE, 3), webcam.take(EDGE, 3))
    assert not np.array_equal(webcam.take(EDGE, 3), webcam.take(EDGE, 4))


@pytest.mark.parametrize("noise", [1, 6, 12])
def test_noise_has_its_standard_deviation(noise):
    taken = Webcam(noise=noise).take(GREY, 1).astype(float)
    assert taken.std() == pytest.approx(noise, rel=0.05)
    assert taken.mean() == pytest.approx(128, abs=0.3)


def test_sharpening_overshoots_at_edges():
    taken = Webcam(sharpening=1.0).take(EDGE, 0)
    assert taken.min() < EDGE.min()
    assert taken.max() > EDGE.max()


def test_compression_leaves_other_codes():
    assert not np.array_equal(Webcam(noise=4, quality=60).take(GREY, 1), Webcam(noise=4).take(GREY, 1))


def test_drift_is_slow_and_as_large_as_asked():
    film = [Webcam(drift=0.1).take(GREY, number).astype(float).mean() for number in range(400)]
    assert max(film) - min(film) > 8
    assert np.abs(np.diff(film)).max() < 1


def test_lamps_flicker_in_bands_or_at_once():
    rows = Webcam(flicker=0.2).take(GREY, 1).astype(float).mean(axis=(1, 2))
    assert np.ptp(rows) > 10
    at_once = Webcam(flicker=0.2, readout_s=0, fps=11.97)
    assert np.ptp(at_once.take(GREY, 1).astype(float).mean(axis=(1, 2))) == 0
    assert np.ptp([at_once.take(GREY, number).mean() for number in range(9)]) > 5


def test_a_camera_shakes_by_about_as_much_as_asked():
    webcam = Webcam(shake_px=1.5)
    edges = [int(np.argmax(webcam.take(EDGE, number)[36, :, 0] > 125)) for number in range(200)]
    assert np.std(edges) == pytest.approx(1.5, rel=0.25)


def test_colours_are_kept_at_half_the_resolution_and_brightness_is_not():
    colours = np.zeros((72, 128, 3), np.uint8)
    colours[:, :64], colours[:, 64:] = (60, 60, 160), (160, 60, 60)
    taken = Webcam(chroma_px=2.0).take(colours, 0).astype(float)
    assert taken[36, 62, 2] - taken[36, 65, 2] < 60
    grey = Webcam(chroma_px=2.0, saturation=1.3).take(EDGE, 0).astype(int)
    assert np.abs(grey - EDGE).max() <= 1


def test_contrast_steepens_the_middle_and_leaves_the_ends():
    ramp = np.repeat(np.arange(0, 256, 2, dtype=np.uint8)[None, :, None], 3, axis=2)
    taken = Webcam(contrast=0.3).take(ramp, 0)[0, :, 0].astype(int)
    assert taken[0] == 0
    assert taken[-1] == pytest.approx(254, abs=1)
    assert taken[80] - taken[48] > 1.2 * 64


def test_smear_takes_noise_and_leaves_edges():
    noisy, smeared = (Webcam(noise=4, smear_codes=20 * i).take(EDGE, 1).astype(float) for i in (0, 1))
    assert smeared[:, :50].std() < 0.7 * noisy[:, :50].std()
    assert smeared[:, 70].mean() - smeared[:, 57].mean() > 120


def test_drift_is_the_same_with_and_without_flicker():
    still, flickering = (Webcam(drift=0.1, flicker=share).take(EDGE, 9).astype(int) for share in (0, 1e-9))
    assert np.abs(still - flickering).max() <= 1
