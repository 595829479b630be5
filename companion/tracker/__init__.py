"""Where rules and senses meet: from readings to their most probable meaning for the match."""
