"""Recordings: every frame of a match kept as the camera gave it, to be refereed again and looked at."""
