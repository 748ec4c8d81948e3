"""Knows what all initialisers of a file take together, before any is decoded: whoever has to raise limits for them is
told once. Does not know nodes, nor elements that nodes hold themselves.
"""

from __future__ import annotations

import math

from tilewright.errors import model_error
from tilewright.frontend.reading.file_model import FileGraph, FileTensor
from tilewright.frontend.reading.import_options import raised_together
from tilewright.frontend.reading.names import show
from tilewright.frontend.reading.reader import over_limit
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.model_formats import Limits
from tilewright.ir.tensors.dtypes import ELEMENT_TYPES


def check_steps(graph: Graph, limits: Limits) -> None:
    """TW1203 where graph passes leave more steps than may be planned."""
    if len(graph.nodes) > limits.steps:
        text = "after all graph passes the network has"
        raise over_limit(text, len(graph.nodes), "steps", limits.steps, name="steps")


def check_initializers(graph: FileGraph, limits: Limits) -> None:
    """TW1203 with every limit that they exceed. A shape that the file has no such elements for is not
    counted: where it is used, it is refused as what it is.
    """
    sizes = {tensor.name: _size(tensor) for tensor in graph.initializers}
    largest, total = max(sizes.values(), default=0), sum(sizes.values())
    needed = {"tensor": (largest, limits.tensor_bytes), "constants": (total, limits.constant_bytes)}
    over = {name: size for name, (size, limit) in needed.items() if size > limit}
    if not over:
        return
    name = next(name for name, size in sizes.items() if size == largest)
    raise model_error(
        "TW1203",
        f"{len(sizes)} initialisers take {total:,} bytes, the largest of them {largest:,}; the limits are"
        f" {limits.constant_bytes:,} and {limits.tensor_bytes:,}",
        where=f"initialiser {show(name)}" if "tensor" in over else "",
        fix=(raised_together(over), "export a smaller model"),
    )


def _size(tensor: FileTensor) -> int:
    """Bytes of its elements; 0 where the file does not hold as many."""
    if tensor.data_type not in ELEMENT_TYPES or tensor.raw is None:
        return 0
    size = math.prod(tensor.dims) * ELEMENT_TYPES[tensor.data_type].numpy.itemsize
    return size if len(tensor.raw) == size else 0
