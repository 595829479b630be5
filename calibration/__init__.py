"""Numbers about the physical world: kits, cameras, sets, and how they are measured."""
