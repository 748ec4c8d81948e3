"""Passes that compute at compile time, or move work into weights."""
