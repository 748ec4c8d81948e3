"""Knows DynamicScale: the scale and the zero point that DynamicQuantizeLinear finds from the smallest and the largest
value. Does not know how these are found (ReduceMin, ReduceMax), nor who quantises with them (QuantizeLinear).

    low, high  = min(smallest, 0), max(largest, 0)
    scale      = (high - low) / 255, or 1 where that is 0
    zero_point = rne(clip(0 - low / scale, 0, 255)), u8; 0 where that is not a number

All in float32, as the function in the standard has it. Source: ONNX DynamicQuantizeLinear-11; onnxruntime has the 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
_STEPS = np.float32(255)


def _infer(site: Site) -> tuple[Tensor, ...]:
    if any((tensor.dtype, tensor.shape) != (DType.F32, ()) for tensor in (site.input(0), site.input(1))):
        raise shape_error(site, "the smallest and the largest value are f32 scalars")
    types = (DType.F32, DType.U8)
    return tuple(Tensor(name=name, dtype=dtype, shape=()) for name, dtype in zip(site.node.outputs, types, strict=True))


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    smallest, largest = (np.float32(np.asarray(value).item()) for value in inputs)
    zero = np.float32(0)
    with np.errstate(all="ignore"):
        low, high = zero if smallest > 0 else smallest, zero if largest < 0 else largest
        span = high - low
        scale = np.float32(1) if span == 0 else span / _STEPS
        below = zero - low / scale
    inside = min(below, _STEPS) if below >= 0 else zero
    return np.asarray(scale, np.float32), np.asarray(np.rint(inside), np.uint8)


DYNAMIC_SCALE = Operator(
    name="DynamicScale",
    inputs=("L", "H"),
    outputs=("S", "Z"),
    summary="scale and zero point that bring the smallest and the largest value to 0 and 255",
    infer=_infer,
    reference=_reference,
    access=lambda site: parse_map(": L[] H[] -> S[] Z[]").bind(dict.fromkeys("LHSZ", ())),
)

DYNAMIC_SCALE_F32 = Kernel(
    name="portable.dynamic_scale",
    op="DynamicScale",
    source=(c_fragment("dynamic_scale.c"),),
    call="tw_dynamic_scale(*${L}, *${H}, ${S}, ${Z});",
)

OPERATORS = (DYNAMIC_SCALE,)
KERNELS = (DYNAMIC_SCALE_F32,)
