"""Knows how a window that slides over a stream becomes a network that is called with what is new."""
