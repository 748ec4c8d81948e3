"""For whoever looks at a network.

Tensors, nodes and whole networks, the types of elements, and the order in which they are stored.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.ir.graphs.graph import Attribute, Graph, Link, Node, Quantization, Site, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import Layout, channels_last, row_major, strides
from tilewright.ir.tensors.requant import Requant, StoredScales, requantise
from tilewright.ir.tensors.roundings import DoubleRounding, Float32HalfEven, MultiplyShift, Rational, Rounding

__all__ = [
    "Attribute",
    "DType",
    "DoubleRounding",
    "Float32HalfEven",
    "Graph",
    "Layout",
    "Link",
    "MultiplyShift",
    "Node",
    "Quantization",
    "Rational",
    "Requant",
    "Rounding",
    "Site",
    "StoredScales",
    "Tensor",
    "channels_last",
    "requantise",
    "row_major",
    "strides",
]
