"""The web page of a table: shows browsers what the referee says, and passes an arbiter's rulings to the referee."""
