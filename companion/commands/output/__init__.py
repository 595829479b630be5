"""Output shared by several commands: exit codes, lines, answers about the rules, files, pictures."""
