"""Knows how every value gets its storage order, so that Transposes and Reshapes move nothing where possible; and the
relayout nodes that stand between a value and a kernel that takes only another order.
Does not know which bytes share a buffer; that is `schedule`.

What is fixed comes first: graph inputs and outputs are row-major, pins are obeyed. Then demands travel backwards
through Transposes and Reshapes, and last every open value takes, in the order of the steps, what its kernel
requires, prefers, or what its input already has.

State is seen by nobody outside: an input that is the output of the run before is stored as that output is when nothing
is demanded of either, so that what is kept need not be turned on its way in or out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from tilewright.ir.graphs.chains import rewired
from tilewright.ir.graphs.graph import Graph, Node, Site
from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.plans.layer import Layer
from tilewright.ir.tensors.layout import Layout, reshaped, row_major, same_bytes, transposed


def choose_layouts(
    graph: Graph,
    operators: Mapping[str, Operator],
    layers: Mapping[str, Layer],
    pins: Mapping[str, Layout],
    states: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Layout]:
    """A layout for every value that is no constant. `layers` has what computes each node, `states` the outputs that
    are inputs of the next run, by input.
    """
    kept = {*states, *states.values()}
    borders = {name: row_major(len(graph.tensors[name].shape)) for name in (*graph.inputs, *graph.outputs)}
    fixed = {name: layout for name, layout in borders.items() if name not in kept}
    fixed |= {name: layout for name, layout in pins.items() if name in graph.tensors}
    if states:
        result = _spread(graph, operators, layers, fixed, kept - fixed.keys())
        for present, following in states.items():
            layout = result.get(present) or result.get(following) or borders[following]
            if pins.keys().isdisjoint((present, following)):
                layout = _moves_outermost(graph, present, following, layout)
            fixed |= {present: layout, following: fixed.get(following, layout)}
    return _spread(graph, operators, layers, fixed)


def _moves_outermost(graph: Graph, present: str, following: str, layout: Layout) -> Layout:
    """`layout`; of a state that moves on along an axis, Concat of a part of it and what is new, this axis outermost: so
    that what stays is one piece.
    """
    writers = graph.producer()
    joined = writers[following]
    part = writers.get(joined.inputs[0])
    if joined.op != "Concat" or part is None or part.op != "Slice" or part.inputs != (present,):
        return layout
    axis = joined.integer("axis") % len(layout)
    if axis == next((other for other in layout if graph.tensors[present].shape[other] != 1), axis):
        return layout
    return (axis, *(other for other in layout if other != axis))


def _spread(
    graph: Graph,
    operators: Mapping[str, Operator],
    layers: Mapping[str, Layer],
    fixed: Mapping[str, Layout],
    undecided: Collection[str] = (),
) -> dict[str, Layout]:
    """What follows from these layouts for all other values; nothing where that hangs on inputs that are undecided."""
    layouts, undecided = dict(fixed), set(undecided)
    arrived = {name for node in graph.nodes if node.op == "Arrival" for name in node.outputs}
    for node in reversed(graph.nodes):
        if arrived.isdisjoint(node.inputs):  # what arrives is stored as the application hands it over
            _pull(node, graph, layouts)
    for node in graph.nodes:
        _push(graph.site(node), operators[node.op], layers[node.name], layouts, undecided)
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


def _push(site: Site, operator: Operator, layer: Layer, layouts: dict[str, Layout], undecided: set[str]) -> None:
    """Give the outputs of one node their layouts."""
    for operand, tensor in zip(operator.outputs, site.outputs, strict=False):
        if tensor.name in layouts:
            continue
        wanted = layer.required.get(operand) or _carried(site, layouts) or layer.preferred.get(operand)
        inherited = wanted or _inherited(site, len(tensor.shape), layouts)
        if inherited is None and not undecided.isdisjoint(site.node.inputs):
            undecided.add(tensor.name)
        else:
            layouts[tensor.name] = inherited or row_major(len(tensor.shape))


def _carried(site: Site, layouts: Mapping[str, Layout]) -> Layout | None:
    """The layout in which a Transpose or Reshape is free."""
    if site.node.op not in ("Transpose", "Reshape") or site.node.inputs[0] not in layouts:
        return None
    source = layouts[site.node.inputs[0]]
    if site.node.op == "Transpose":
        return transposed(source, site.node.integers("perm"))
    return reshaped(site.input(0).shape, source, site.output.shape)


def _inherited(site: Site, rank: int, layouts: Mapping[str, Layout]) -> Layout | None:
    """The layout of the largest input of the same rank."""
    alike = [tensor for tensor in site.inputs if tensor and len(tensor.shape) == rank and tensor.name in layouts]
    return layouts[max(alike, key=lambda tensor: tensor.elements).name] if alike else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaid:
    """The graph with relayout nodes (a Transpose that permutes nothing) and the layouts that make them copies."""

    graph: Graph
    layouts: Mapping[str, Layout]


def insert_relayouts(
    graph: Graph, operators: Mapping[str, Operator], layers: Mapping[str, Layer], layouts: Mapping[str, Layout]
) -> Relaid:
    """Insert a relayout wherever a kernel requires another layout than the value has."""
    tensors, chosen, nodes = dict(graph.tensors), dict(layouts), list[Node]()
    for node in graph.nodes:
        site, operator = graph.site(node), operators[node.op]
        required = layers[node.name].required
        before, inputs = _before(site, operator, required, chosen)
        after, outputs = _after(site, operator, required, chosen)
        for extra in (*before, *after):
            for name in (extra.node.inputs[0], extra.node.outputs[0]):
                tensors.setdefault(name, replace(tensors[extra.value], name=name))
        nodes.extend(item.node for item in before)
        relaid = replace(node, inputs=inputs, outputs=outputs)
        nodes.append(rewired(relaid, operator, tensors) if node.links else relaid)
        nodes.extend(item.node for item in after)
    return Relaid(graph=graph.with_nodes(tuple(nodes), tensors=tensors), layouts=chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extra:
    node: Node
    value: str  # the value it relays out, for its type


def _before(
    site: Site, operator: Operator, required: Mapping[str, Layout], layouts: dict[str, Layout]
) -> tuple[list[_Extra], tuple[str, ...]]:
    extras, inputs = [], list(site.node.inputs)
    for position, (operand, tensor) in enumerate(zip(input_names(operator, site), site.inputs, strict=True)):
        if tensor is None or tensor.name in site.constants or operand not in required:
            continue
        if same_bytes(tensor.shape, required[operand], layouts[tensor.name]):
            continue
        name = f"{tensor.name}:{site.node.name}:{operand}"
        layouts[name] = required[operand]
        extras.append(_extra(f"{site.node.name}:{operand}", tensor.name, name, tensor.name, len(tensor.shape)))
        inputs[position] = name
    return extras, tuple(inputs)


def _after(
    site: Site, operator: Operator, required: Mapping[str, Layout], layouts: dict[str, Layout]
) -> tuple[list[_Extra], tuple[str, ...]]:
    extras, outputs = [], list(site.node.outputs)
    for position, (operand, tensor) in enumerate(zip(operator.outputs, site.outputs, strict=False)):
        if operand not in required or same_bytes(tensor.shape, required[operand], layouts[tensor.name]):
            continue
        name = f"{tensor.name}:{site.node.name}:{operand}"
        layouts[name] = required[operand]
        extras.append(_extra(f"{site.node.name}:{operand}", name, tensor.name, tensor.name, len(tensor.shape)))
        outputs[position] = name
    return extras, tuple(outputs)


def _extra(node_name: str, source: str, target: str, value: str, rank: int) -> _Extra:
    node = Node(
        name=node_name, op="Transpose", inputs=(source,), outputs=(target,), attributes={"perm": row_major(rank)}
    )
    return _Extra(node=node, value=value)
