"""A memory and an offset for every buffer. Never changes a size."""
