"""Characters on the faces of round pieces: face detection and template matching over rotation and offset."""
