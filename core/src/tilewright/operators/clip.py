"""Knows Clip and Relu on floats: y = min(max(x, min), max), NaN kept. Relu is Clip(0, inf).
Does not know integers: in an integer network a clip becomes part of the requantisation or a lookup table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.access import Access, parse_map
from tilewright.dtypes import DType
from tilewright.frontend.importing import Conversion, Import, OnnxNode
from tilewright.graph import Site, Tensor
from tilewright.kernel import Call, Kernel
from tilewright.operator import Operator
from tilewright.operators.c_literals import c_float
from tilewright.operators.c_source import c_source

Array = npt.NDArray[np.generic]


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=x.shape),)


def _limits(site: Site) -> tuple[np.float32, np.float32]:
    return np.float32(site.node.number("min", -math.inf)), np.float32(site.node.number("max", math.inf))


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    low, high = _limits(site)
    return (np.minimum(np.maximum(np.asarray(inputs[0]), low), high),)


def _access(site: Site) -> Access:
    shapes = {"X": site.input(0).shape, "Y": site.output.shape}
    return parse_map(": X[...] -> Y[...]").bind(shapes)


def _accepts(site: Site) -> str | None:
    return None if site.input(0).dtype is DType.F32 else f"X must be f32, found {site.input(0).dtype.value}"


def _values(call: Call) -> Mapping[str, object]:
    low, high = _limits(call.site)
    return {
        "count": " * ".join(call.operands["Y"].extents) or "1",
        "low": c_float(float(low)),
        "high": c_float(float(high)),
    }


def _import_relu(node: OnnxNode, graph: Conversion) -> None:
    graph.emit(node, "Clip", node.inputs, node.outputs, {"min": 0.0, "max": math.inf})


def _import_clip_6(node: OnnxNode, graph: Conversion) -> None:
    limits = {"min": node.number("min", -math.inf), "max": node.number("max", math.inf)}
    graph.emit(node, "Clip", node.inputs, node.outputs, limits)


def _import_clip_11(node: OnnxNode, graph: Conversion) -> None:
    limits = {"min": -math.inf, "max": math.inf}
    for index, name in ((1, "min"), (2, "max")):
        if index < len(node.inputs) and node.inputs[index]:
            limits[name] = float(graph.need_constant(node, index).reshape(()).item())
    graph.emit(node, "Clip", node.inputs[:1], node.outputs, limits)


CLIP = Operator(
    name="Clip",
    inputs=("X",),
    outputs=("Y",),
    summary="y = min(max(x, min), max)",
    infer=_infer,
    reference=_reference,
    access=_access,
    imports=(
        Import(op_type="Relu", since=6, attributes={}, convert=_import_relu),
        Import(op_type="Clip", since=6, attributes={"min": "FLOAT", "max": "FLOAT"}, convert=_import_clip_6),
        Import(op_type="Clip", since=11, attributes={}, convert=_import_clip_11, max_inputs=3),
    ),
)

CLIP_F32 = Kernel(
    name="portable.clip_f32",
    op="Clip",
    accepts=_accepts,
    in_place=lambda site: (("X", "Y"),),
    values=_values,
    source=c_source("clip.c"),
    call="tw_clip_f32(${count}, ${low}, ${high}, ${X}, ${Y});",
)

OPERATORS = (CLIP,)
KERNELS = (CLIP_F32,)
