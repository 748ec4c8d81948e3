"""Knows layers of QLSTM and QGRU: with and without what is optional, of 8 and of 16 bits, whose sums reach limits, too.
Does not know how they are tiled or run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.recurrent.gate_tables import gate_table
from tilewright.testing.operator_sites import Sample

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def integer_recurrences(numbers: np.random.Generator) -> Iterator[Sample]:
    """Plain ones, ones with everything that is optional, and ones of 16 bits."""
    for op in ("QLSTM", "QGRU"):
        yield integer_recurrence(numbers, op, optional=False)
        yield integer_recurrence(numbers, op, optional=True)
        yield integer_recurrence(numbers, op, optional=True, dtype=DType.I16)


def integer_recurrence(
    numbers: np.random.Generator,
    op: str,
    *,
    optional: bool,
    dtype: DType = DType.I8,
    shape: tuple[int, int, int, int] = (7, 11, 9, 5),
    **changes: Attribute,
) -> Sample:
    """One of steps, sequences, inputs and units. `changes` are attributes."""
    steps, batches, inputs, hidden = shape
    gates = 4 if op == "QLSTM" else 3
    low, high = dtype.limits

    def integers(kind: type, lowest: int, most: int, *extents: int) -> Array:
        return numbers.integers(lowest, most, extents, endpoint=True).astype(kind)

    values = dtype.numpy.type
    unit = 2.0 if dtype is DType.I8 else 2.0 / 256
    weights = [integers(np.int8, -127, 127, gates * hidden, width) for width in (inputs, hidden)]
    bias = integers(np.int32, -4096, 4096, gates * hidden)
    extra = (integers(values, low, high, batches, hidden), integers(np.int16, -32768, 32767, batches, hidden))
    chosen: dict[str, Attribute] = {
        "rounding": "tflm",
        "given_scales": tuple(float(unit * scale) for scale in numbers.uniform(0.05, 1.5, gates)),
        "inner_scales": tuple(float(unit * scale) for scale in numbers.uniform(0.05, 1.5, gates)),
        "hidden_scale": float(np.float32(1 / (high + 1))),
        "zero_point": -3 if optional and dtype is DType.I8 else 0,
        "reverse": int(optional),
    }
    if op == "QLSTM":
        power = -11 if optional else -15
        chosen |= {"cell_power": power, "write_scale": 2.0 ** (-30 - power), "cell_limit": 9000 if optional else 0}
    else:
        chosen |= {"linear_before_reset": int(optional and dtype is DType.I8)}
    beside = (integers(np.int32, -4096, 4096, gates * hidden) if optional else None, gate_table())
    states = extra[: 2 if op == "QLSTM" else 1] if optional else ()
    operands = (integers(values, low, high, steps, batches, inputs), *weights, bias, *beside, *states)
    kind = f"{'everything' if optional else ''}{' of 16 bits' if dtype is DType.I16 else ''}"
    return Sample(op=op, kind=kind, inputs=operands, attributes={**chosen, **changes}, constants=(1, 2, 3, 4, 5))
