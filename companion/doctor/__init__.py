"""Checks of everything that a table needs, each with advice on what to do."""
