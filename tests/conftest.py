"""What tests share: the pictures that come with the repository, and those beside it where they are there."""

from pathlib import Path

import cv2
import pytest

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"


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
