"""Frame sources: cameras, recordings, a simulated table; one or two of them."""

import argparse
import sys

import pytest

from calibration.appearance import nominal_appearance
from calibration.kit import load_kit
from companion.app.camera_reader import CameraReader
from companion.app.multi_camera import MultiCameraReader
from companion.commands.options import source
from companion.commands.options.game import begin_match
from companion.commands.options.parser import parse_group
from companion.commands.options.source import SourceOptions, add_sources, open_input
from companion.errors import CompanionError
from companion.simulate.table import SimulatedTable
from vision.capture.frames import Frame, SourceLost
from vision.capture.merged_source import MergedSource
from vision.capture.recording import RecordingSource, read_recording
from vision.errors import VisionError

pytestmark = pytest.mark.pictures

KIT = load_kit("domination")
MATCH = begin_match("domination", None)


def sight(*words, resume=False):
    """Open the sources given by command-line words."""
    parser = argparse.ArgumentParser()
    add_sources(parser)
    options = parse_group(SourceOptions, parser.parse_args([str(word) for word in words]))
    return open_input(options, KIT, MATCH, tuple(map(read_recording, options.recording)), resume=resume)


class Live:
    """Replacement for live cameras that records which ones were opened."""

    def __init__(self, devices, say):
        self.devices = devices
        say("camera 0: focus stays automatic")


@pytest.fixture
def live(monkeypatch):
    """Replace live cameras by ones that record which were opened."""
    monkeypatch.setattr(source, "LiveSource", Live)


@pytest.fixture
def camera(examples):
    return examples / "photos" / "camera.toml"


def test_one_recording_is_seen_with_its_own_camera(examples):
    seen = sight("--recording", examples / "domination-1")
    assert isinstance(seen.source, RecordingSource)
    assert isinstance(seen.camera_reader, CameraReader)
    frame = next(seen.source.frames())
    seen.camera_reader.moving(frame)
    assert seen.camera_reader.look(frame).view == "clear"


@pytest.mark.parametrize("recorded", [True, False])
def test_memory_is_given_back_before_loops_are_linked_and_after(examples, monkeypatch, recorded):
    done = []
    monkeypatch.setattr(source, "keep_small", lambda: done.append("given back"))
    monkeypatch.setattr(source, "warm_up", lambda _: done.append("linked"))
    seen = sight("--recording", examples / "domination-1") if recorded else sight("--simulate")
    assert seen.camera_reader is not None
    assert done == ["given back", "linked", "given back"]


def test_two_recordings_are_read_together(examples):
    folder = examples / "domination-1"
    seen = sight("--recording", folder, "--recording", folder)
    assert isinstance(seen.source, MergedSource)
    assert isinstance(seen.camera_reader, MultiCameraReader)
    frame = next(seen.source.frames())
    assert [other.camera for other in frame.others] == [1]
    seen.camera_reader.moving(frame)
    assert seen.camera_reader.look(frame).view == "clear"
    seen.source.close()


def test_cameras_of_both_kinds_in_the_order_of_their_files(live, camera, capsys):
    seen = sight("--device", "2", "--picamera", "--camera", camera, "--camera", camera)
    assert [device.name for device in seen.source.devices] == ["camera 2", "camera module 0"]
    assert isinstance(seen.camera_reader, MultiCameraReader)
    assert capsys.readouterr().err == "camera 0: focus stays automatic\n"
    path = "/dev/v4l/by-id/usb-cam-index0"
    assert sight("--device", path, "--camera", camera).source.devices[0].name == f"camera {path}"
    (device,) = sight("--picamera", "1", "--camera", camera).source.devices
    assert device.name == "camera module 1"


def test_a_simulated_table_is_seen_and_hears():
    seen = sight("--simulate")
    assert isinstance(seen.source, SimulatedTable)
    assert len(seen.listeners) == 1
    frame = next(seen.source.frames())
    assert isinstance(frame, Frame)
    seen.camera_reader.moving(frame)
    reading = seen.camera_reader.look(frame).reading
    assert reading.best(reading.cells.index("c3"))[0] == (1, "R")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--device", "0"), "--camera is missing"),
        (("--device", "0", "--device", "1", "--camera", "CAMERA"), "--camera: cameras: 2, files: 1; give one for each"),
        (("--device", "0", "--camera", "CAMERA", "--camera", "CAMERA"), "--camera: cameras: 1, files: 2"),
        (("--device", "0", "--camera", "CAMERA", "--set", "a", "--set", "b"), "--set: cameras: 1, files: 2"),
        (("--device", "0", "--simulate"), "--recording and --simulate stand alone"),
        (("--simulate", "--camera", "CAMERA"), "--simulate has a camera and a set of its own"),
    ],
)
def test_options_that_do_not_fit(camera, words, said):
    with pytest.raises(CompanionError, match=said):
        sight(*(camera if word == "CAMERA" else word for word in words))


def test_a_simulated_table_begins_anew():
    with pytest.raises(CompanionError, match="--simulate has a camera and a set of its own, and begins anew"):
        sight("--simulate", resume=True)


def test_a_lens_that_is_found_from_the_board(live, examples):
    seen = sight("--device", "0", "--camera", "auto")
    assert seen.camera_reader.finds_lens
    (device,) = seen.source.devices
    assert device.name == "camera 0"
    played = sight("--recording", examples / "domination-1", "--camera", "auto")
    frame = next(played.source.frames())
    played.camera_reader.moving(frame)
    assert played.camera_reader.look(frame).view == "clear"
    played.source.close()
    assert not sight("--device", "0", "--camera", examples / "photos" / "camera.toml").camera_reader.finds_lens


def test_one_set_serves_two_cameras(live, camera, examples):
    words = ("--device", "0", "--device", "1", "--camera", camera, "--camera", camera)
    seen = sight(*words, "--set", examples / "photos" / "set.toml")
    first, second = (eye.reader.appearance for eye in seen.camera_reader._readers)
    assert first == second != nominal_appearance(KIT)


def test_a_camera_that_is_not_there(camera, monkeypatch):
    with pytest.raises(SourceLost, match="camera 97: cannot be opened"):
        sight("--device", "97", "--camera", camera)
    monkeypatch.setitem(sys.modules, "picamera2", None)
    with pytest.raises(VisionError, match="camera module 0: picamera2 is not there"):
        sight("--picamera", "--camera", camera)
