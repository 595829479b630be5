"""The referee's application: rules, matches, verdicts, and everything that shows and keeps them."""
