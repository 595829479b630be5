"""Recordings: every frame of a match as the camera gave it, to be refereed again and looked at."""
