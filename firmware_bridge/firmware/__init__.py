"""What runs on the pillar controller: MicroPython, which CPython runs as well.  Nothing here imports typing."""
