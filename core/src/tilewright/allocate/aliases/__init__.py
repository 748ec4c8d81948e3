"""Blocks that take bytes of others, at a distance."""
