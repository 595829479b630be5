"""Measurement tools: not part of the product, never imported by it."""
