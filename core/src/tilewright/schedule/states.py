"""Knows when the next value of a state can be written where its present value is: when nobody reads that any more.
Does not know addresses. Where it cannot, the program copies at its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.ir.graphs.graph import Node
from tilewright.ir.graphs.operands import input_names
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound
from tilewright.ir.tensors.layout import same_bytes
from tilewright.schedule.storage import Sharing, offered_pairs


def join_states(
    executed: Sequence[Node], bound: Bound, operators: Mapping[str, Operator], sharing: Sharing, decisions: Decisions
) -> dict[str, str]:
    """Let outputs that become inputs of the next run share their bytes where that is sound: in-place pairs."""
    pairs: dict[str, str] = {}
    for present, following in decisions.state.items():
        pair = _joined(present, following, executed, bound, operators, sharing)
        if pair is None:
            continue
        source, target = pair
        if source and decisions.in_place.get(target, source) != source:
            continue
        sharing.join(sharing.root(following)[0], present)
        if source:
            pairs[target] = source
    return pairs


def _joined(
    present: str,
    following: str,
    executed: Sequence[Node],
    bound: Bound,
    operators: Mapping[str, Operator],
    sharing: Sharing,
) -> tuple[str, str] | None:
    """None where they may not share; else the in-place pair that it takes, or two empty names."""
    graph, (root, offset) = bound.graph, sharing.root(following)
    fixed = {*graph.inputs, *graph.outputs} - {following}
    whole = max(sharing.bytes_of(value)[1] for value in sharing.members(root))
    if offset or whole != graph.tensors[present].size_bytes or fixed.intersection(sharing.members(root)):
        return None
    if sharing.root(present) != (present, 0) or sharing.pinned_apart(present, following):
        return None
    old, new = set(sharing.members(present)), set(sharing.members(root))
    read = max((step for step, node in enumerate(executed) if old.intersection(node.inputs)), default=-1)
    written = min((step for step, node in enumerate(executed) if new.intersection((*node.inputs, *node.outputs))))
    if read < written:
        return "", ""
    return _pair(executed[read], old, new, bound, operators, sharing) if read == written else None


def _pair(
    node: Node, old: set[str], new: set[str], bound: Bound, operators: Mapping[str, Operator], sharing: Sharing
) -> tuple[str, str] | None:
    """The value and the output of one step that its kernel computes in place, all of the one over all of the other."""
    site, operator, tensors = bound.graph.site(node), operators[node.op], bound.graph.tensors
    inputs = dict(zip(input_names(operator, site), node.inputs, strict=True))
    outputs = dict(zip(operator.outputs, node.outputs, strict=False))
    if sum(name in old for name in node.inputs) > 1:
        return None
    for operand, result in offered_pairs(node, bound):
        source, target = inputs.get(operand, ""), outputs.get(result, "")
        if source not in old or target not in new or sharing.root(source)[1] or sharing.root(target)[1]:
            continue
        one, other = tensors[source], tensors[target]
        alike = one.shape == other.shape and one.size_bytes == other.size_bytes
        if alike and same_bytes(one.shape, bound.layouts[source], bound.layouts[target]):
            return source, target
    return None
