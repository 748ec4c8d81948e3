"""What tiles of a step can look like: loops, operands, windows, memory paths, transfers."""
