"""How large pieces are, from a photograph of a known layout."""
