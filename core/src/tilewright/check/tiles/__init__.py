"""Checkers of tiled regions."""
