"""The page at a table: what the referee says, for every browser; what an arbiter rules, back to the referee."""
