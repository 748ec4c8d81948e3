"""Checkers of line-buffered regions."""
