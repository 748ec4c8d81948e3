"""Knows how every value gets its storage order, so that Transposes and Reshapes move nothing where possible.
Does not know which bytes share a buffer; that is `schedule`.

What is fixed comes first: graph inputs and outputs are row-major, pins are obeyed. Then demands travel backwards
through Transposes and Reshapes, and last every open value takes, in the order of the steps, what its kernel
requires, prefers, or what its input already has.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.ir.graphs.graph import Graph, Node, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.layer import Layer
from tilewright.ir.tensors.layout import Layout, reshaped, row_major, transposed


def choose_layouts(
    graph: Graph,
    operators: Mapping[str, Operator],
    layers: Mapping[str, Layer],
    pins: Mapping[str, Layout],
) -> dict[str, Layout]:
    """A layout for every value that is no constant. `layers` has what computes each node."""
    layouts = {name: row_major(len(graph.tensors[name].shape)) for name in (*graph.inputs, *graph.outputs)}
    layouts.update({name: layout for name, layout in pins.items() if name in graph.tensors})
    arrived = {name for node in graph.nodes if node.op == "Arrival" for name in node.outputs}
    for node in reversed(graph.nodes):
        if arrived.isdisjoint(node.inputs):  # what arrives is stored as the application hands it over
            _pull(node, graph, layouts)
    for node in graph.nodes:
        _push(graph.site(node), operators[node.op], layers[node.name], layouts)
    return layouts


def _pull(node: Node, graph: Graph, layouts: dict[str, Layout]) -> None:
    """Ask the input of a Transpose or Reshape for the layout in which nothing has to move. What departs is stored as
    the application takes it.
    """
    if node.op not in ("Transpose", "Reshape", "Departure"):
        return
    source, target = node.inputs[0], node.outputs[0]
    if node.op == "Departure":
        layouts.setdefault(target, row_major(len(graph.tensors[target].shape)))
        layouts[source] = layouts[target]
        return
    if source in layouts or source in graph.constants:
        return
    shape = graph.tensors[source].shape
    if node.op == "Transpose" and target in layouts:
        permutation = node.integers("perm")
        layouts[source] = tuple(permutation[axis] for axis in layouts[target])
    elif node.op == "Reshape" and reshaped(shape, _not_row_major(shape), graph.tensors[target].shape) is None:
        layouts[source] = row_major(len(shape))


def _not_row_major(shape: tuple[int, ...]) -> Layout:
    return tuple(reversed(range(len(shape))))


def _push(site: Site, operator: Operator, layer: Layer, layouts: dict[str, Layout]) -> None:
    """Give the outputs of one node their layouts."""
    for operand, tensor in zip(operator.outputs, site.outputs, strict=False):
        if tensor.name in layouts:
            continue
        wanted = layer.required.get(operand) or _carried(site, layouts) or layer.preferred.get(operand)
        layouts[tensor.name] = wanted or _inherited(site, len(tensor.shape), layouts)


def _carried(site: Site, layouts: Mapping[str, Layout]) -> Layout | None:
    """The layout in which a Transpose or Reshape is free."""
    if site.node.op not in ("Transpose", "Reshape") or site.node.inputs[0] not in layouts:
        return None
    source = layouts[site.node.inputs[0]]
    if site.node.op == "Transpose":
        return transposed(source, site.node.integers("perm"))
    return reshaped(site.input(0).shape, source, site.output.shape)


def _inherited(site: Site, rank: int, layouts: Mapping[str, Layout]) -> Layout:
    """The layout of the largest input of the same rank, else row-major."""
    alike = [tensor for tensor in site.inputs if tensor and len(tensor.shape) == rank and tensor.name in layouts]
    if not alike:
        return row_major(rank)
    return layouts[max(alike, key=lambda tensor: tensor.elements).name]
