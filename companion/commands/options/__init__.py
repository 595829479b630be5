"""Options that several commands share, a file for each: how they are written, the value they become, what they open."""
