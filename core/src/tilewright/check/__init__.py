"""Independent checkers of what stages promise. They know definitions, and believe no stage, tiler or solver."""
