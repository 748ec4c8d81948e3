"""Knows Arrival and Departure: rows of an input that are handed over, and rows of an output that are taken, copied.
Does not know when that happens: `lower/line_buffers/streamed_io` has the code of it. No ONNX node becomes one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.operators.shared.copying import COPY_CALL, COPY_SOURCE, Move, copy_values

Array = npt.NDArray[np.generic]


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=x.shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    return (np.asarray(inputs[0]).copy(),)


def _access(site: Site) -> Access:
    return parse_map(": X[...] -> Y[...]").bind({"X": site.input(0).shape, "Y": site.output.shape})


def _values(call: Call) -> Mapping[str, object]:
    x, y = call.operands["X"], call.operands["Y"]
    move = Move(source=str(x), target=str(y), extents=y.extents, source_steps=x.strides, target_steps=y.strides)
    return copy_values(y.dtype, [move])


def _operator(name: str, summary: str) -> Operator:
    return Operator(
        name=name, inputs=("X",), outputs=("Y",), summary=summary, infer=_infer, reference=_reference, access=_access
    )


def _copy(op: str) -> Kernel:
    name = f"portable.{op.lower()}"
    return Kernel(name=name, op=op, parallel=("*",), values=_values, source=COPY_SOURCE, call=COPY_CALL)


ARRIVAL = _operator("Arrival", "an input that arrives in rows (--io push)")
DEPARTURE = _operator("Departure", "an output that is taken in rows (--io pull)")
OPERATORS = (ARRIVAL, DEPARTURE)
KERNELS = (_copy("Arrival"), _copy("Departure"))
