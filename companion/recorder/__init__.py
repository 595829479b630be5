"""Keeping matches: an append-only store in one SQLite file."""
