"""The `emit` stage: from a Program to files."""

from tilewright.emit.options import EmitOptions, Vector
from tilewright.emit.stage import emit

__all__ = ["EmitOptions", "Vector", "emit"]
