"""Model files, read without trusting them."""
