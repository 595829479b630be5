"""What tests share: the pictures that come with the repository, and those beside it where they are there."""

from pathlib import Path

import cv2
import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"

# On a fresh machine hypothesis first makes its table of characters, which takes seconds; slow machines are no fault.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """OpenCV on one thread, as at the table."""
    cv2.setNumThreads(1)


@pytest.fixture(scope="session")
def examples():
    """The repository's own pictures."""
    return REPOSITORY / "examples"


@pytest.fixture(scope="session")
def shared():
    """The larger collection of pictures; tests that need it are skipped where it is not."""
    if not (SHARED / "photos").is_dir():
        pytest.skip("the larger collection of pictures is not here")
    return SHARED
