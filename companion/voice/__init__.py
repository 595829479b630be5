"""The voice at the table: sentences spoken from sound files that were made ahead."""
