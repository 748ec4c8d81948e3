"""Knows an island: one QuantizeLinear, the clips and the operator before it, and the values that the operator reads.
Does not know which operators have an integer form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.rewrite.edit import GraphView, origins, with_attributes
from tilewright.rewrite.merge.fuse import composed
from tilewright.rewrite.qdq.affine import VALUE_BITS, Affine, Floats, read

Lowered = Node | tuple[Node, ...] | str  # the integer nodes that replace an island, or why there are none


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantisedSource:
    """The input of a DequantizeLinear: the integer value, its scale and its zero point."""

    value: str
    affine: Affine
    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Island:
    """`main`, then `clips`, then `quantize`. `main` is None where the clips read a dequantised value directly."""

    view: GraphView
    quantize: Node
    output: Affine  # of what `quantize` writes: 8 or 16 bits, one scale
    clips: tuple[Node, ...]  # first to last
    main: Node | None
    source: str  # the float value that the clips read
    factors: tuple[Node, ...] = ()  # products with one number that the scale of `output` has in it

    @property
    def graph(self) -> Graph:
        """The graph it lies in."""
        return self.view.graph

    def stored(self, value: str) -> QuantisedSource | str:
        """The value of 8 or 16 bits, of one scale, that `value` was dequantised from; or why there is none.

        A positive number that it is multiplied with, or divided by, is in the scale.
        """
        scaled = scaled_by(self.view, self.view.producer.get(value))
        if scaled is not None:
            return self._scaled(*scaled)
        stored = dequantised(self.view, value)
        if isinstance(stored, str):
            return stored
        if stored.affine.dtype not in VALUE_BITS:
            return f"{stored.value!r} is {stored.affine.dtype.value}, not 8 or 16 bits"
        return stored if stored.affine.whole else f"activation {stored.value!r} has a scale per channel"

    def _scaled(self, product: Node, value: str, factor: float) -> QuantisedSource | str:
        stored = self.stored(value)
        if isinstance(stored, str):
            return stored
        affine = stored.affine.scaled(factor)
        if affine is None:
            return f"with {product.name!r} its scales are not finite float32"
        return replace(stored, affine=affine, node=replace(stored.node, origin=origins(stored.node, product)))

    def before_factor(self) -> Island | None:
        """The same island whose operator stands before a product with a positive number, which is in the scale of
        `output` then; None where `main` is no such product.
        """
        scaled = scaled_by(self.view, self.main)
        if scaled is None:
            return None
        product, value, factor = scaled
        output = self.output.scaled(1 / factor)
        if output is None:
            return None
        clips = tuple(_bounds_over(clip, factor) for clip in self.clips)
        clips_before, main, source = _clips_before(self.view, value)
        return replace(
            self, output=output, clips=(*clips_before, *clips), main=main, source=source,
            factors=(product, *self.factors),
        )  # fmt: skip

    def low_high(self) -> tuple[int, int]:
        """The limits of the stored result: the type's, narrowed by the clips (one may be in `main` already)."""
        low, high = -math.inf, math.inf
        if self.main is not None:
            low, high = self.main.number("clip_low", low), self.main.number("clip_high", high)
        for clip in self.clips:
            low, high = composed(clip, low, high)
        return self.output.limits(low, high)

    def requant(self, scale: tuple[float, ...], stored: StoredScales) -> Requant | str:
        """The requantisation by float32 `scale`, which is made of those `stored`, clips included; or why not."""
        if not all(math.isfinite(factor) and factor >= 0 for factor in scale):
            return "the ratio of its scales is not a finite float32"
        low, high = self.low_high()
        zero_point = self.output.zero_point[0]
        return Requant(scale=scale, zero_point=zero_point, low=low, high=high, stored=stored)

    def product_requant(self, x: Affine, w: Floats) -> Requant | str:
        """The same of a sum of products, whose second factors have the scales `w`: one, or one per output channel."""
        stored = StoredScales(x=x.scale[0], w=tuple(float(scale) for scale in w.reshape(-1)), y=self.output.scale[0])
        with np.errstate(all="ignore"):
            ratio = ((x.scales() * w) / self.output.scales()[0]).astype(np.float32)
        values = tuple(float(factor) for factor in ratio.reshape(-1))
        return self.requant(values[:1] if len(set(values)) == 1 else values, stored)

    def integer_node(
        self,
        op: str,
        inputs: tuple[str, ...],
        attributes: dict[str, Attribute],
        *used: Node,
    ) -> Node:
        """The integer operator that writes what `quantize` wrote.

        It keeps the name of the ONNX operator it computes, unless that one is needed in float too.
        """
        values = (self.source, *(node.outputs[0] for node in (*self.clips, *self.factors)))
        alone = all(self.view.read_once(value) for value in values)
        named = self.main if self.main is not None and alone else self.quantize
        around = (*used, *((self.main,) if self.main else ()), *self.clips, *self.factors, self.quantize)
        return Node(
            name=named.name,
            op=op,
            inputs=inputs,
            outputs=self.quantize.outputs,
            attributes={**attributes, "output_type": self.output.dtype.value},
            origin=origins(named, *around),
        )

    def window_attributes(self) -> dict[str, Attribute]:
        """The attributes of `main` that its integer form has too: all but a fused clip."""
        attributes = dict(self.main.attributes) if self.main else {}
        return {name: value for name, value in attributes.items() if name not in ("clip_low", "clip_high")}


def dequantised(view: GraphView, value: str) -> QuantisedSource | str:
    """The integers that `value` was dequantised from, of any type and scales; or why there are none."""
    node = view.producer.get(value)
    if node is None or node.op != "DequantizeLinear":
        return f"{value!r} is not quantised"
    affine = read(view.graph, node)
    return affine if isinstance(affine, str) else QuantisedSource(value=node.inputs[0], affine=affine, node=node)


def island_before(view: GraphView, quantize: Node) -> Island | str:
    """The island that ends in `quantize`; or why it cannot be one."""
    output = read(view.graph, quantize)
    if isinstance(output, str):
        return output
    if output.dtype not in VALUE_BITS:
        return f"the result is {output.dtype.value}, not 8 or 16 bits"
    if not output.whole:
        return "the result has a scale per channel"
    clips, main, source = _clips_before(view, quantize.inputs[0])
    return Island(view=view, quantize=quantize, output=output, clips=clips, main=main, source=source)


def _clips_before(view: GraphView, source: str) -> tuple[tuple[Node, ...], Node | None, str]:
    """The clips before `source`, the operator before these (no DequantizeLinear), and what the first of them reads."""
    clips: list[Node] = []
    main = view.producer.get(source)
    while main is not None and main.op == "Clip" and view.graph.tensors[source].dtype is DType.F32:
        clips.insert(0, main)
        source = main.inputs[0]
        main = view.producer.get(source)
    return tuple(clips), None if main is not None and main.op == "DequantizeLinear" else main, source


def scaled_by(view: GraphView, node: Node | None) -> tuple[Node, str, float] | None:
    """A product with one positive number, or a quotient by one: the node, the other operand, and the factor."""
    if node is None or node.op not in ("Mul", "Div") or node.attributes:
        return None
    orders = (node.inputs,) if node.op == "Div" else (node.inputs, node.inputs[::-1])
    for value, name in orders:
        number = scalar_constant(view, name)
        if number is not None and 0 < number < math.inf and len(view.graph.tensors[name].shape) <= _rank(view, value):
            return node, value, number if node.op == "Mul" else 1 / number
    return None


def _rank(view: GraphView, value: str) -> int:
    return len(view.graph.tensors[value].shape)


def _bounds_over(clip: Node, factor: float) -> Node:
    """The clip of what is multiplied with `factor` behind it."""
    bounds = (("min", -math.inf), ("max", math.inf))
    return with_attributes(clip, {name: clip.number(name, none) / factor for name, none in bounds})


def scalar_constant(view: GraphView, value: str) -> float | None:
    """A constant of one element, dequantised or float; None for anything else."""
    array = view.graph.constants.get(value)
    if array is None:
        stored = dequantised(view, value)
        if isinstance(stored, str) or stored.value not in view.graph.constants:
            return None
        array = stored.affine.dequantise(view.graph.constants[stored.value])
    return float(array.reshape(()).item()) if array.size == 1 else None
