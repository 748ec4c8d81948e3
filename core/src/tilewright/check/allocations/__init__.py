"""Checkers of allocation problems' solutions."""
