"""Export and import of stored matches: score sheets, documents, pictures, and statistics."""
