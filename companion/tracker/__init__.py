"""Where rules and senses meet: from readings to what they most probably mean for the match."""
