"""Kept matches leave the store and come back: as score sheets, documents, pictures, and in numbers."""
