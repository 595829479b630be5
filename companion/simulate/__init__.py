"""A table, a camera and players that do not exist, for demonstrations and tests without hardware."""
