"""How the tiles of one step are found."""
