"""``table.toml``: everything about one table in one file."""
