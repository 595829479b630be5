"""From what the table means, and what people say, to the referee's events."""
