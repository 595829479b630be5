"""What several commands print and write: exit codes, lines, answers of the rules, files, pictures."""
