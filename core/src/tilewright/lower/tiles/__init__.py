"""The tiles of one hop in C: boxes, buffers, transfers."""
