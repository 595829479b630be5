"""Phones at a table: who is let in, when their pictures were taken, and the page that sends them."""
