"""The meeting point of rules and senses: from readings to what they mean for the match."""
