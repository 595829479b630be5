"""A simulated pillar controller: its wiring, its board, its cable; only the firmware on it is real."""
