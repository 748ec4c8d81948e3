"""Passes that find in repeated nodes the layer that they were unrolled from."""
