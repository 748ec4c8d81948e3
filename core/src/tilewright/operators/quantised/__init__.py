"""Integer operators."""
