"""Tiles, buffer counts and candidate memories: every buffer that will exist, with its final size."""
