"""What the program says to people, one file a language."""
