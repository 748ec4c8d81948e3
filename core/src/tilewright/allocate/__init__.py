"""A memory and an offset for every buffer. Never changes a size."""

from tilewright.allocate.stage import allocate

__all__ = ["allocate"]
