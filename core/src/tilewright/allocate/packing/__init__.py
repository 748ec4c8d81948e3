"""Orders of blocks, and placement into gaps."""
