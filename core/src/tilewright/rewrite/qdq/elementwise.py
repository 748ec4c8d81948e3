"""Knows elementwise operators between one quantised tensor and a QuantizeLinear, and what they compute of every value
that is stored. Does not know which integer operator computes the same.

It is computed as ONNX reads: DequantizeLinear in float32, the operators in float64, one rounding to float32,
QuantizeLinear in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.operators.elementwise.unary import UNARY
from tilewright.rewrite.edit import GraphView, origins
from tilewright.rewrite.qdq.island import Island, QuantisedSource, scalar_constant

if TYPE_CHECKING:
    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]

_BINARY: Mapping[str, Callable[[Doubles, Doubles], Doubles]] = MappingProxyType(
    {"Add": np.add, "Div": np.divide, "Max": np.maximum, "Min": np.minimum, "Mul": np.multiply, "Sub": np.subtract}
)
ELEMENTWISE = frozenset(("Clip", *_BINARY, *UNARY))
_Constant = TypeVar("_Constant")
_LONGEST = 64  # operators in one table: a guard against graphs made to be slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Region(Generic[_Constant]):
    """Elementwise operators between one stored tensor and one real value."""

    source: QuantisedSource
    nodes: tuple[Node, ...]  # in the order they compute
    constants: dict[str, _Constant]  # that they read

    def node(self, island: Island, op: str, more: tuple[str, ...], attributes: dict[str, Attribute]) -> Node:
        """The integer operator that computes it, of the stored tensor and `more` inputs."""
        alone = all(island.view.read_once(node.outputs[0]) for node in self.nodes)
        return Node(
            name=self.nodes[-1].name if self.nodes and alone else island.quantize.name,
            op=op,
            inputs=(self.source.value, *more),
            outputs=island.quantize.outputs,
            attributes=attributes,
            origin=origins(self.source.node, *self.nodes, island.quantize),
        )


def region_of(island: Island) -> Region[float] | str:
    """The operators between `quantize` and the one tensor it depends on, beside numbers; or why there are none."""
    return region_before(island, scalar_constant)


def region_before(
    island: Island, constant: Callable[[GraphView, str], _Constant | None], further: Collection[str] = ()
) -> Region[_Constant] | str:
    """The operators between `quantize` and the one tensor it depends on; or why there is no such thing.

    `constant` says which values are constants; operators in `further` count as elementwise ones.
    """
    view, top = island.view, island.quantize.inputs[0]
    order: list[Node] = []
    constants: dict[str, _Constant] = {}
    sources: list[QuantisedSource] = []
    seen: set[str] = set()
    waiting = [top]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        known = constant(view, value)
        node = view.producer.get(value)
        if known is not None:
            constants[value] = known
        elif node is not None and (node.op in ELEMENTWISE or node.op in further) and len(order) < _LONGEST:
            order.append(node)
            waiting.extend(node.inputs)
        else:
            stored = island.stored(value)
            if isinstance(stored, str):
                is_computed = node is not None and node.op not in ("DequantizeLinear", "QuantizeLinear")
                return f"{node.op} has no integer form here" if node is not None and is_computed else stored
            sources.append(stored)
    return _checked(island, order, constants, sources)


def _checked(
    island: Island, nodes: list[Node], constants: dict[str, _Constant], sources: list[QuantisedSource]
) -> Region[_Constant] | str:
    if not sources:
        return "it depends on no tensor"
    source, tensors = sources[0], island.graph.tensors
    if any((other.value, other.affine) != (source.value, source.affine) for other in sources):
        return "it has no integer form for more than one tensor"
    if tensors[source.value].shape != tensors[island.quantize.outputs[0]].shape:
        return "it broadcasts its input"
    in_order = sorted(nodes, key=lambda node: island.view.position[node.name])
    return Region(source=source, nodes=tuple(in_order), constants=constants)


def stored_values(source: QuantisedSource) -> npt.NDArray[np.generic]:
    """All that the type can hold, from the lowest."""
    low, high = source.affine.dtype.limits
    return np.arange(low, high + 1).astype(source.affine.dtype.numpy)


def computed(node: Node, arguments: Sequence[Doubles]) -> Doubles:
    """One operator in float64, its fused clip included."""
    if node.op == "Clip":
        return _clipped(arguments[0], node, "min", "max")
    result = _BINARY[node.op](*arguments) if node.op in _BINARY else UNARY[node.op](node, arguments[0])
    return _clipped(result, node, "clip_low", "clip_high")


def _clipped(values: Doubles, node: Node, low: str, high: str) -> Doubles:
    return np.minimum(np.maximum(values, node.number(low, -math.inf)), node.number(high, math.inf))


def results(island: Island, region: Region[float], stored: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """What the file means, for these stored values."""
    return island.output.quantise(real_results(island, region, stored).astype(np.float32))


def real_results(island: Island, region: Region[float], stored: npt.NDArray[np.generic]) -> Doubles:
    """The same before it is quantised."""
    start = region.source.affine.dequantise(stored).astype(np.float64)
    values: dict[str, Doubles] = {name: np.float64(scalar) + np.zeros(()) for name, scalar in region.constants.items()}
    with np.errstate(all="ignore"):
        for node in region.nodes:
            arguments = [values.get(name, start) for name in node.inputs]
            values[node.outputs[0]] = computed(node, arguments)
        return np.broadcast_to(values.get(island.quantize.inputs[0], start), start.shape)
