"""How the tiles of several steps together are found."""
