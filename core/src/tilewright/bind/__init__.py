"""The legal kernels of every node, the layout of every value, the stored form of every constant."""

from tilewright.bind.stage import bind

__all__ = ["bind"]
