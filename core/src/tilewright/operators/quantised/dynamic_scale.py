"""Knows DynamicScale: the scale and the zero point that DynamicQuantizeLinear finds from the smallest and the largest
value. Does not know how these are found (ReduceMin, ReduceMax), nor who quantises with them (QuantizeLinear).

    low, high  = min(smallest, 0), max(largest, 0)
    scale      = (high - low) / 255, or 1 where that is 0
    zero_point = rne(clip(0 - low / scale, 0, 255)), u8; 0 where that is not a number

All in float32, as the function in the standard has it. Source: ONNX DynamicQuantizeLinear-11; onnxruntime has the 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.operators.c_code.walk import NEST, nest, walk
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Floats = npt.NDArray[np.float32]
_STEPS = np.float32(255)


def _infer(site: Site) -> tuple[Tensor, ...]:
    low, high = site.input(0), site.input(1)
    if low.shape != high.shape or {low.dtype, high.dtype} != {DType.F32}:
        raise shape_error(site, "the smallest and the largest values are f32, as many of one as of the other")
    types = (DType.F32, DType.U8)
    return tuple(
        Tensor(name=name, dtype=dtype, shape=low.shape) for name, dtype in zip(site.node.outputs, types, strict=True)
    )


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    smallest, largest = (np.asarray(values, np.float32) for values in inputs)
    return scale_and_zero_point(smallest, largest)


def scale_and_zero_point(smallest: Floats, largest: Floats) -> tuple[Array, Array]:
    """What the module's text says, of float32."""
    zero, one = np.float32(0), np.float32(1)
    with np.errstate(all="ignore"):
        low, high = np.where(smallest > 0, zero, smallest), np.where(largest < 0, zero, largest)
        span = high - low
        scale = np.where(span == 0, one, span / _STEPS)
        below = zero - low / scale
    inside = np.where(below >= 0, np.minimum(below, _STEPS), zero)
    return np.asarray(scale, np.float32), np.rint(inside).astype(np.uint8)


def _access(site: Site) -> Access:
    return parse_map(": L[...] H[...] -> S[...] Z[...]").bind(dict.fromkeys("LHSZ", site.input(0).shape))


def _values(call: Call) -> Mapping[str, object]:
    steps = {name: call.operands[name].strides for name in "LHSZ"}
    loops = nest(walk(call.operands["S"].extents, steps, "S"), 0)
    return {"nest": loops.headers, "at": loops.offsets}


DYNAMIC_SCALE = Operator(
    name="DynamicScale",
    inputs=("L", "H"),
    outputs=("S", "Z"),
    summary="scale and zero point that bring the smallest and the largest value to 0 and 255",
    infer=_infer,
    reference=_reference,
    access=_access,
)

DYNAMIC_SCALE_F32 = Kernel(
    name="portable.dynamic_scale",
    op="DynamicScale",
    parallel=("*",),
    values=_values,
    source=(c_fragment("dynamic_scale.c"),),
    call=NEST + "tw_dynamic_scale((${L}${at['L']})[0], (${H}${at['H']})[0], ${S}${at['S']}, ${Z}${at['Z']});",
)

OPERATORS = (DYNAMIC_SCALE,)
KERNELS = (DYNAMIC_SCALE_F32,)
