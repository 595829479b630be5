"""The wire to the pillar controller, and its firmware."""
