"""A pillar controller that does not exist: its wiring, its board, its cable; only the firmware on it is real."""
