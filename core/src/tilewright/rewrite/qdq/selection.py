"""Knows how Max, Min and Where of quantised tensors select among stored integers: every operand is brought to the scale
of the result first where it has another one. By a table, which is exact because QuantizeLinear keeps the order; of 16
bits by a QRescale, whose results have one rounding instead of two.
Does not know operators of one tensor (`movement`, `lookup`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Node
from tilewright.rewrite.edit import origins
from tilewright.rewrite.qdq.island import Island, Lowered
from tilewright.rewrite.qdq.weights import Work
from tilewright.rewrite.qdq.wide_lookup import rescaling

_Brought = tuple[str, tuple[Node, ...], tuple[Node, ...]]  # a value, the nodes that make it, and those it came from


def lower_selection(island: Island, main: Node, work: Work) -> Lowered:
    """A QLookup for each operand that needs one, and the operator on integers."""
    operands = _operands(island, main, work)
    if isinstance(operands, str):
        return operands
    inputs, made, used = operands
    selected = island.integer_node(main.op, inputs, {}, *used)
    return (*made, replace(selected, attributes={}))


def _operands(
    island: Island, main: Node, work: Work
) -> tuple[tuple[str, ...], tuple[Node, ...], tuple[Node, ...]] | str:
    """What `main` reads, in the scale of the result; the nodes that make it, and those it came from."""
    first = 1 if main.op == "Where" else 0  # what decides is no operand
    inputs, made, used = list(main.inputs), list[Node](), list[Node]()
    for index in range(first, len(inputs)):
        inner = island.view.producer.get(inputs[index])
        chained = inner is not None and inner.op == main.op != "Where" and island.view.read_once(inputs[index])
        brought = _chained(island, inner, work) if inner and chained else _brought(island, inputs[index], work)
        if isinstance(brought, str):
            return brought
        inputs[index], nodes, sources = brought
        made.extend(nodes)
        used.extend(sources)
    return tuple(inputs), tuple(made), tuple(used)


def _chained(island: Island, inner: Node, work: Work) -> _Brought | str:
    """One Max of another's result, as of three operands: no scale lies between them."""
    operands = _operands(island, inner, work)
    if isinstance(operands, str):
        return operands
    inputs, made, used = operands
    value = inner.outputs[0]
    shape = island.graph.tensors[value].shape
    result = work.draft.value(island.output.dtype, shape, f"{island.quantize.outputs[0]}_of_{value}")
    name = work.draft.node_name(f"{island.quantize.name}_of_{value}")
    node = Node(name=name, op=inner.op, inputs=inputs, outputs=(result,), origin=origins(*used, inner))
    return result, (*made, node), (*used, inner)


def _brought(island: Island, value: str, work: Work) -> _Brought | str:
    """`value` in the scale of the result, clips included."""
    constant = island.graph.constants.get(value)
    hint = f"{island.quantize.outputs[0]}_of_{value}"
    if constant is not None:
        return work.draft.constant(_quantised(island, constant.astype(np.float32)), hint), (), ()
    source = island.stored(value)
    if isinstance(source, str):
        return source
    low, high = source.affine.dtype.limits
    stored = np.arange(low, high + 1).astype(source.affine.dtype.numpy)
    table = _quantised(island, source.affine.dequantise(stored))
    if table.dtype == stored.dtype and np.array_equal(table, stored):
        return source.value, (), (source.node,)
    if source.value in island.graph.constants:
        array = island.graph.constants[source.value]
        return work.draft.constant(_quantised(island, source.affine.dequantise(array)), hint), (), (source.node,)
    attributes = rescaling(source.affine, island.output, island.low_high()) if source.affine.wide else {}
    if isinstance(attributes, str):
        return attributes
    made = work.draft.value(island.output.dtype, island.graph.tensors[source.value].shape, hint)
    node = Node(
        name=work.draft.node_name(f"{island.quantize.name}_of_{value}"),
        op="QRescale" if attributes else "QLookup",
        inputs=(source.value,) if attributes else (source.value, work.draft.constant(table, f"{hint}_table")),
        outputs=(made,),
        attributes=attributes,
        origin=origins(source.node, island.quantize),
    )
    return made, (node,), (source.node,)


def _quantised(island: Island, real: npt.NDArray[np.float32]) -> npt.NDArray[np.generic]:
    low, high = island.low_high()
    limited = np.clip(island.output.quantise(real), low, high)
    return np.asarray(limited.astype(island.output.dtype.numpy))
