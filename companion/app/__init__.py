"""Wiring: a source of pictures, the eyes, the referee, and everything that listens to the referee."""
