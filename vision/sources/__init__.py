"""Frame sources, one device or format a file."""
