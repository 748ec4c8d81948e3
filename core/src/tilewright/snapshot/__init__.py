"""Stage values as text and in folders, written whole or not at all. Does not know how stages make them."""
