"""A memory and an offset for every buffer. Never changes a size."""

from tilewright.allocate.allocate import allocate

__all__ = ["allocate"]
