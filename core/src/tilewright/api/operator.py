"""For authors of operators.

What an operator computes, which elements it reads and writes, and which ONNX nodes become it.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.ir.access.index import Axis, Box, Index, Span, Term
from tilewright.ir.access.index_map import Access, Footprint, IndexMap, Loop, MapAccess, Window, parse_map, whole
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Alias, Operator

__all__ = [
    "Access",
    "Alias",
    "Axis",
    "Box",
    "Conversion",
    "Footprint",
    "Import",
    "Index",
    "IndexMap",
    "Loop",
    "MapAccess",
    "OnnxNode",
    "Operator",
    "Span",
    "Term",
    "Window",
    "parse_map",
    "whole",
]
