"""A simulated table, camera and players, for demonstrations and tests without hardware."""
