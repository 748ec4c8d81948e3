"""The `emit` stage: from a Program to files."""

from tilewright.emit.emit import emit
from tilewright.emit.emit_options import EmitOptions, Vector

__all__ = ["EmitOptions", "Vector", "emit"]
