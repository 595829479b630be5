"""Checks of everything that a table needs, each with what to do."""
