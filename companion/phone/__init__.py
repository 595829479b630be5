"""Phones as cameras and panels of a table: access, capture times of pictures, and their pages."""
