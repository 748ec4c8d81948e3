"""Knows the passes that decide guards against infinities at compile time: a comparison with an infinity, or of a value
with itself, where the value is finite for certain; and a Where whose condition is constant. Exact.
Does not know who writes guards: torch's exporter does, around Softmax, for rows that are masked throughout.

A value is finite where its size has a bound far below the largest float32, which begins at quantised values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_LARGEST = 1e37  # roundings and sums in another order stay below the largest float32
_SAME = ("Clip", "Concat", "Gather", "Max", "MaxPool", "Min", "ReduceMax", "ReduceMean", "ReduceMin")
_MOVED = ("Relu", "Reshape", "Slice", "Transpose", "Upsample", "Where", "AveragePool", "Abs", "Neg")
_SATURATING = ("HardSigmoid", "Sigmoid", "Softmax", "Tanh")


def _matmul(graph: Graph, node: Node, sizes: Sequence[float]) -> float:
    return sizes[0] * sizes[1] * (graph.tensors[node.inputs[0]].shape or (1,))[-1]


def _quotient(graph: Graph, node: Node, sizes: Sequence[float]) -> float:
    divisor = graph.constants.get(node.inputs[1])
    least = 0.0 if divisor is None or not divisor.size else float(np.abs(divisor.astype(np.float64)).min())
    return sizes[0] / least if least > 0 else math.inf


def _stored(graph: Graph, node: Node, sizes: Sequence[float]) -> float:
    low, high = graph.tensors[node.inputs[0]].dtype.limits
    return (high - low) * _size_of(graph.constants.get(node.inputs[1]))


# How large a result can be, from how large the inputs can be.
_BOUNDS: Mapping[str, Callable[[Graph, Node, Sequence[float]], float]] = MappingProxyType(
    {
        **dict.fromkeys((*_SAME, *_MOVED), lambda graph, node, sizes: max(sizes, default=math.inf)),
        **dict.fromkeys(_SATURATING, lambda graph, node, sizes: 1.0 if sizes[0] < _LARGEST else math.inf),
        "Pad": lambda graph, node, sizes: max(sizes[0], abs(node.number("value"))),
        "Add": lambda graph, node, sizes: sum(sizes),
        "Sub": lambda graph, node, sizes: sum(sizes),
        "Mul": lambda graph, node, sizes: sizes[0] * sizes[1],
        "Div": _quotient,
        "MatMul": _matmul,
        "DequantizeLinear": _stored,
    }
)


def _size_of(array: Array | None) -> float:
    """The largest size of a constant; infinite where it is none, or holds what is not finite."""
    if array is None:
        return math.inf
    size = float(np.abs(array.astype(np.float64)).max(initial=0.0))
    return size if math.isfinite(size) else math.inf


def sizes_of(graph: Graph) -> Mapping[str, float]:
    """How large the elements of every float value can be; infinite where nothing is known, and not a number is."""
    sizes = {name: _size_of(array) for name, array in graph.constants.items()}
    for node in graph.nodes:
        bound = _BOUNDS.get(node.op)
        known = [sizes.get(name, math.inf) for name in node.inputs if name and _is_float(graph, name)]
        empty = any(
            name and not graph.tensors[name].elements for name in node.inputs
        )  # the largest of none is infinite
        size = math.inf if bound is None or empty else bound(graph, node, known)
        sizes[node.outputs[0]] = size if size < _LARGEST else math.inf
    return sizes


def _is_float(graph: Graph, name: str) -> bool:
    return graph.tensors[name].dtype is DType.F32


def _fold_finite(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    if not any(node.op == "Equal" for node in graph.nodes):
        return PassResult(graph=graph)
    sizes = sizes_of(graph)
    for node in graph.nodes:
        if node.op != "Equal" or not _is_float(graph, node.inputs[0]):
            continue
        answer = _answer(graph, node, sizes)
        if answer is not None:
            shape = graph.tensors[node.outputs[0]].shape
            draft.bypass(node, draft.constant(np.full(shape, answer), f"{node.outputs[0]}_decided"))
    return PassResult(graph=draft.finish())


def _answer(graph: Graph, node: Node, sizes: Mapping[str, float]) -> bool | None:
    """What Equal gives for every element; None where that depends on the values."""
    left, right = node.inputs
    if left == right:
        return True if sizes.get(left, math.inf) < _LARGEST else None
    for value, name in ((left, right), (right, left)):
        array = graph.constants.get(name)
        if array is not None and value not in graph.constants and not np.any(np.isfinite(array.astype(np.float64))):
            return False if sizes.get(value, math.inf) < _LARGEST else None
    return None


def _fold_decided(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    for node in graph.nodes:
        condition = graph.constants.get(node.inputs[0]) if node.op == "Where" else None
        if condition is None or not condition.size or condition.min() != condition.max():
            continue
        chosen = node.inputs[1 if condition.reshape(-1)[0] else 2]
        if graph.tensors[chosen].shape == graph.tensors[node.outputs[0]].shape:
            draft.bypass(node, chosen)
    return PassResult(graph=draft.finish())


FOLD_FINITE = GraphPass(
    name="fold-finite",
    summary="comparisons of finite values with infinities are decided at compile time",
    apply=_fold_finite,
    roots=("Equal",),
    after=("recognise-fake-quantisation", "recognise-decomposed-quantisation"),
    before=("fold-constants",),
)
FOLD_DECIDED = GraphPass(
    name="fold-decided",
    summary="a Where whose condition is constant is what it selects",
    apply=_fold_decided,
    roots=("Where",),
    after=("fold-constants",),
    before=("merge-duplicates",),
)
