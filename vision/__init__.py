"""Perception: pictures in, probabilities out; it knows kits but no rules."""
