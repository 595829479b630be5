"""The voice at the table: sentences spoken from sound files made in advance."""
