"""Knows the `schedule` stage: from a Bound and decisions to a Scheduled.
Does not know memories, tiles or offsets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tilewright.errors import usage_error
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.routes import copy_grain
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.operand_aligns import aligns_of
from tilewright.ir.plans.stages import Bound, Buffer, BufferKind, Scheduled, Step, Storage
from tilewright.schedule.deferred import demand_apart, demand_steps
from tilewright.schedule.order import given_order
from tilewright.schedule.storage import Sharing, in_place_pair, join_states, view_aliases


def schedule(bound: Bound, operators: Mapping[str, Operator], decisions: Decisions) -> Scheduled:
    """Order the nodes, let views and in-place pairs share buffers, and find every lifetime.

    Raises TilewrightError TW1105 (exit 2) when a pinned order is not an order of this graph, TW5075 (exit 5) where a
    step cannot be waited for behind the step that is decided.
    """
    order = _nodes_in_order(bound.graph, decisions.order)
    bound = replace(bound, graph=replace(bound.graph, nodes=order))
    sharing = Sharing(
        bound.graph, pins=decisions.memories, aligns=aligns_of(bound, operators), grain=copy_grain(bound.platform)
    )
    executed = [node for node in order if not _is_view(node, bound, operators, sharing)]
    in_place = _in_place_pairs(executed, bound, operators, sharing, decisions)
    in_place |= join_states(executed, bound, operators, sharing, decisions)
    deferred = demand_steps(decisions.deferred, [node.name for node in executed])
    buffers = _buffers(executed, bound, sharing, decisions, deferred)
    storage = {}
    for value in bound.layouts:
        root, offset = sharing.root(value)
        storage[value] = Storage(buffer=root, offset_bytes=offset)
    return demand_apart(
        Scheduled(
            bound=bound,
            steps=tuple(Step(name=node.name, nodes=(node.name,)) for node in executed),
            storage=storage,
            buffers=buffers,
            in_place=in_place,
            deferred=deferred,
        )
    )


def _nodes_in_order(graph: Graph, wanted: Sequence[str]) -> tuple[Node, ...]:
    nodes = {node.name: node for node in graph.nodes}
    order = tuple(wanted) or given_order(graph)
    if sorted(order) != sorted(nodes):
        odd = sorted(set(order) ^ set(nodes))
        raise usage_error(
            "TW1105",
            "the pinned order does not name every node once",
            details=(f"differs in: {', '.join(odd[:8])}",),
            fix=("leave `order` out, or name every node of the rewritten graph: --dump-after rewritten lists them",),
        )
    written = {*graph.inputs, *graph.constants}
    for name in order:
        early = [value for value in nodes[name].inputs if value and value not in written]
        if early:
            raise usage_error(
                "TW1105",
                f"the pinned order runs a node before '{early[0]}' is written",
                where=f"node '{name}'",
                fix=(f"move '{name}' behind the node that writes '{early[0]}'",),
            )
        written.update(nodes[name].outputs)
    return tuple(nodes[name] for name in order)


def _is_view(node: Node, bound: Bound, operators: Mapping[str, Operator], sharing: Sharing) -> bool:
    """Whether all of the node's outputs are only other names for bytes that are there (or will be)."""
    aliases = view_aliases(node, bound, operators)
    return bool(aliases) and sharing.add_all(aliases)


def _in_place_pairs(
    executed: Sequence[Node], bound: Bound, operators: Mapping[str, Operator], sharing: Sharing, decisions: Decisions
) -> dict[str, str]:
    last_read = _last_reads(executed)
    pairs: dict[str, str] = {}
    for step, node in enumerate(executed):
        pair = in_place_pair(node, bound, operators, sharing, last_read, step)
        if pair is None:
            continue
        source, target = pair
        if decisions.in_place.get(target, source) != source:
            continue
        sharing.join(target, source)
        pairs[target] = source
    return pairs


def _last_reads(executed: Sequence[Node]) -> dict[str, int]:
    return {value: step for step, node in enumerate(executed) for value in node.inputs if value}


def _buffers(
    executed: Sequence[Node], bound: Bound, sharing: Sharing, decisions: Decisions, deferred: Mapping[str, str]
) -> tuple[Buffer, ...]:
    graph = bound.graph
    final = max(len(executed) - 1, 0)
    touched: dict[str, list[int]] = {}
    numbers = {node.name: step for step, node in enumerate(executed)}
    for step, node in enumerate(executed):
        ends = numbers[deferred.get(node.name, node.name)]
        for value in (*node.inputs, *node.outputs):
            if value and value not in graph.constants:
                touched.setdefault(sharing.root(value)[0], []).extend((step, ends))
    members: dict[str, list[str]] = {}
    for value in bound.layouts:
        members.setdefault(sharing.root(value)[0], []).append(value)
    buffers = []
    for root, values in members.items():
        steps = touched.get(root, [0])
        kind = _kind(values, graph, decisions)
        buffers.append(
            Buffer(
                name=root,
                kind=kind,
                size_bytes=max(sharing.bytes_of(value)[1] for value in values),
                align=max(bound.platform.buffer_align, graph.tensors[root].dtype.size_bytes, sharing.align_of(root)),
                first=0 if kind in ("input", "state") else min(steps),
                last=final if kind in ("output", "state") else max(steps),
                values=tuple(values),
            )
        )
    return tuple(sorted(buffers, key=lambda buffer: (buffer.first, buffer.name)))


def _kind(values: Sequence[str], graph: Graph, decisions: Decisions) -> BufferKind:
    if any(value in decisions.state for value in values):
        return "state"
    if any(value in graph.inputs for value in values):
        return "input"
    return "output" if any(value in graph.outputs for value in values) else "activation"
