"""The panel at the table: lights and tones for events, on real pins or on a terminal."""
