"""Knows DynamicQuantizeLinear: bytes, their scale and their zero point, from the smallest to the largest value at hand.
Does not know who multiplies the bytes (`integer_products`), nor how a machine that computes tile by tile does the same
in several steps (`rewrite.quantisation.split_dynamic_quantisation`).

Normal form: X[...] -> Y[...], u8, S[], f32, and Z[], u8. S and Z are DynamicScale's of the smallest and the largest
value, or of 0 where there are none; Y = saturate(rne(X / S) + Z). NaN counts as 0 in Y, and makes S NaN.
Source: ONNX DynamicQuantizeLinear-11, whose own body divides 0 by 0 where all values are 0; there S is 1, as in
onnxruntime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.operators.c_code.walk import innermost, nest, walk
from tilewright.operators.quantised.dynamic_scale import scale_and_zero_point
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
_LARGEST = 255


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    if x.dtype is not DType.F32:
        raise shape_error(site, f"X is f32, found {x.dtype.value}")
    kinds = ((DType.U8, x.shape), (DType.F32, ()), (DType.U8, ()))
    return tuple(
        Tensor(name=name, dtype=dtype, shape=shape)
        for name, (dtype, shape) in zip(site.node.outputs, kinds, strict=True)
    )


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x = np.asarray(inputs[0], np.float32)
    ends = (np.asarray(end(x, initial=0), np.float32) for end in (np.min, np.max))
    scale, zero = scale_and_zero_point(*ends)
    with np.errstate(all="ignore"):
        quotient = np.nan_to_num(np.divide(x, scale, dtype=np.float32), nan=0.0)
    moved = np.rint(np.clip(quotient, -(2.0**30), 2.0**30)).astype(np.int64) + int(zero)
    return np.clip(moved, 0, _LARGEST).astype(np.uint8), scale, zero


def _access(site: Site) -> Access:
    shape = site.input(0).shape
    axes = ",".join(":" for _ in shape)
    return parse_map(f": X[{axes}] -> Y[{axes}] S[] Z[]").bind({"X": shape, "Y": shape, "S": (), "Z": ()})


def _values(call: Call) -> Mapping[str, object]:
    x, y = call.operands["X"], call.operands["Y"]
    loops = walk(x.extents, {"X": x.strides, "Y": y.strides}, "X")
    rows, (count, steps) = nest(loops, 1), innermost(loops)
    return {"nest": rows.headers, "at": rows.offsets, "count": count, "x_step": steps["X"], "y_step": steps["Y"]}


def _import(node: OnnxNode, graph: Conversion) -> None:
    graph.emit(node, "DynamicQuantizeLinear", node.inputs, node.outputs)


DYNAMIC_QUANTIZE = Operator(
    name="DynamicQuantizeLinear",
    inputs=("X",),
    outputs=("Y", "S", "Z"),
    summary="bytes that reach from the smallest to the largest value, with their scale and zero point",
    infer=_infer,
    reference=_reference,
    access=_access,
    imports=(Import(op_type="DynamicQuantizeLinear", since=11, attributes={}, convert=_import),),
)

DYNAMIC_QUANTIZE_PORTABLE = Kernel(
    name="portable.dynamic_quantize",
    op="DynamicQuantizeLinear",
    values=_values,
    source=(c_fragment("dynamic_scale.c"), c_fragment("dynamic_quantize.c")),
    call="""\
{
        float tw_ends[2] = {0.0f, 0.0f};
% for line in nest:
        ${line}
% endfor
        tw_dynamic_ends(${count}, ${X}${at["X"]}, ${x_step}, tw_ends);
        tw_dynamic_scale(tw_ends[0], tw_ends[1], ${S}, ${Z});
% for line in nest:
        ${line}
% endfor
        tw_dynamic_bytes(${count}, ${X}${at["X"]}, ${x_step}, *(${S}), *(${Z}), ${Y}${at["Y"]}, ${y_step});
    }""",
)

OPERATORS = (DYNAMIC_QUANTIZE,)
KERNELS = (DYNAMIC_QUANTIZE_PORTABLE,)
