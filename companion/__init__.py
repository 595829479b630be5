"""The referee's application: rules, matches, verdicts, and everything that shows and keeps them."""

__version__ = "0.1.0"
