"""Knows BatchNormalization at inference: y = (x - mean) / sqrt(var + epsilon) * scale + B, channel by channel.
Does not know training, nor folding into a Conv (`fold_channel_constants`).

Normal form: attribute `epsilon`; scale, B, mean and var are constants of one element per channel, axis 1. Where they
are computed, elementwise nodes take its place at import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.float_results import dot_tolerance, rounded
from tilewright.operators.shared.refusals import need_types, not_all_float32, shape_error

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]
_TERMS = 3  # terms of x * factor - mean * factor + B


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    if len(x.shape) < 2:
        raise shape_error(site, "X is [N, C, ...]")
    if any(site.input(index).shape != x.shape[1:2] for index in range(1, 5)):
        raise shape_error(site, f"scale, B, mean and var have one element for each of {x.shape[1]} channels")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=x.shape),)


def _parameters(site: Site, values: Sequence[Array | None]) -> tuple[Doubles, Doubles, Doubles]:
    """factor, mean and B, shaped to broadcast over [C, ...]."""
    scale, shift, mean, variance = (np.asarray(value, np.float64) for value in values)
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(variance + site.node.number("epsilon", 1e-5))
    shape = (-1, *(1,) * (len(site.input(0).shape) - 2))
    return factor.reshape(shape), mean.reshape(shape), shift.reshape(shape)


def _exact(site: Site, inputs: Sequence[Array | None]) -> Doubles:
    factor, mean, shift = _parameters(site, inputs[1:])
    return (np.asarray(inputs[0], np.float64) - mean) * factor + shift


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    factor, mean, shift = _parameters(site, inputs[1:])
    magnitude = np.abs(np.asarray(inputs[0], np.float64) * factor) + np.abs(mean * factor) + np.abs(shift)
    return (dot_tolerance(_TERMS, magnitude, _exact(site, inputs)),)


def _access(site: Site) -> Access:
    names = ("scale", "B", "mean", "var")
    return _map(site, dict.fromkeys(names, "c"), dict.fromkeys(names, site.input(0).shape[1:2]))


def _packed_access(site: Site) -> Access:
    rank, channels = len(site.input(0).shape), site.input(0).shape[1]
    names, index = ("factor", "shift"), ",".join(["c", *["0"] * (rank - 2)])
    return _map(site, dict.fromkeys(names, index), dict.fromkeys(names, (channels, *(1,) * (rank - 2))))


def _map(site: Site, texts: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]]) -> Access:
    x = site.input(0).shape
    loops = ["n", "c", *(f"i{axis}" for axis in range(2, len(x)))]
    parameters = " ".join(f"{name}[{index}]" for name, index in texts.items())
    text = f"{' '.join(loops)} : X[{','.join(loops)}] {parameters} -> Y[{','.join(loops)}]"
    return parse_map(text).bind({"X": x, **shapes, "Y": x})


def _pack(site: Site) -> Mapping[str, Array]:
    """y = x * factor + shift."""
    values = [site.constant(index) for index in range(1, 5)]
    if any(value is None for value in values):
        return {}
    factor, mean, shift = _parameters(site, values)
    with np.errstate(all="ignore"):
        return {"factor": factor.astype(np.float32), "shift": (shift - mean * factor).astype(np.float32)}


def _import(node: OnnxNode, graph: Conversion) -> None:
    need_types(node, graph, DType.F32)
    if any(node.outputs[1:]) or node.integer("training_mode"):
        raise graph.refuse(node, "training is not supported; export the model for inference")
    if not node.integer("spatial", 1):
        raise graph.refuse(node, "spatial is 0; one mean per channel is supported")
    if all(graph.constant(name) is not None for name in node.inputs[1:]):
        attributes = {"epsilon": node.number("epsilon", 1e-5)}
        graph.emit(node, "BatchNormalization", node.inputs, node.outputs, attributes)
        return
    _emit_elementwise(node, graph)


def _emit_elementwise(node: OnnxNode, graph: Conversion) -> None:
    x, scale, shift, mean, variance = node.inputs
    shape = (*graph.tensor(scale).shape, *(1,) * (len(graph.tensor(x).shape) - 2))
    epsilon = graph.add_constant(np.float32(node.number("epsilon", 1e-5)).reshape(1), "epsilon")
    safe = graph.emit(node, "Add", (variance, epsilon), hint="variance")
    deviation = graph.emit(node, "Sqrt", (safe,), hint="deviation")
    factor = graph.emit(node, "Div", (scale, deviation), hint="factor")
    factor, shift, mean = (
        graph.emit(node, "Reshape", (value,), (), {"shape": shape}, hint)
        for value, hint in ((factor, "factor_by_channel"), (shift, "shift"), (mean, "mean"))
    )
    centred = graph.emit(node, "Sub", (x, mean), hint="centred")
    scaled = graph.emit(node, "Mul", (centred, factor), hint="scaled")
    graph.emit(node, "Add", (scaled, shift), node.outputs)


_COMMON = {"epsilon": "FLOAT", "momentum": "FLOAT"}


def _import_of(since: int, **more: str) -> Import:
    return Import(
        op_type="BatchNormalization",
        since=since,
        attributes={**_COMMON, **more},
        convert=_import,
        min_inputs=5,
        max_inputs=5,
    )


BATCH_NORMALIZATION = Operator(
    name="BatchNormalization",
    inputs=("X", "scale", "B", "mean", "var"),
    outputs=("Y",),
    summary="(x - mean) / sqrt(var + epsilon) * scale + B, by channel",
    infer=_infer,
    reference=lambda site, inputs: (rounded(_exact(site, inputs)),),
    access=_access,
    tolerance=_tolerance,
    macs=lambda site: site.output.elements,
    imports=(_import_of(7, spatial="INT"), _import_of(9), _import_of(14, training_mode="INT")),
)

BATCH_NORMALIZATION_F32 = Kernel(
    name="portable.batch_normalization_f32",
    op="BatchNormalization",
    parallel=("*",),
    match=lambda site: (
        not_all_float32(site)
        or (None if all(site.constant(index) is not None for index in range(1, 5)) else "parameters are no constants")
    ),
    access=_packed_access,
    pack=_pack,
    in_place=lambda site: (("X", "Y"),),
    values=lambda call: elementwise_values(call, "batch_normalization_f32", "x * factor + shift"),
    source=elementwise_source,
    call=ELEMENTWISE_CALL,
)

OPERATORS = (BATCH_NORMALIZATION,)
KERNELS = (BATCH_NORMALIZATION_F32,)
