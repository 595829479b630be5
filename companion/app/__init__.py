"""Wiring: a source of pictures, the camera reader, the referee, and everything that listens to the referee."""
