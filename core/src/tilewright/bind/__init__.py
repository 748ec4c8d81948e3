"""The legal kernels of every node, the layout of every value, the stored form of every constant."""

from tilewright.bind.bind import bind

__all__ = ["bind"]
