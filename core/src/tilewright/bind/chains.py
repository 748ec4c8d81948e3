"""Knows which nodes become one node, because a kernel computes a chain of operators; and why others do not.
Does not know what a chain computes (`ir/graphs/chains.py`), layouts or memory.

A chain is taken where every value inside it has one reader and leaves the graph nowhere, a kernel accepts it, and that
kernel is estimated to take no longer than the nodes one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tilewright.bind.candidates import GraphForKernels, NodeCandidates, engine_of
from tilewright.errors import Refusal
from tilewright.ir.graphs.chains import chain_node
from tilewright.ir.graphs.graph import Graph, Node, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions

_SHORT = "memory is short: as one step with what is before it, no plan fits (TW5041)"


def with_chains(
    graph: Graph,
    kernels: Iterable[Kernel],
    platform: Platform,
    operators: Mapping[str, Operator],
    decisions: Decisions,
    candidates_of: Callable[[Site], NodeCandidates],
    *,
    fit: bool = True,
) -> GraphForKernels:
    """Make one node of every chain that one of `kernels` computes in no more time, the longest first; of none where
    no plan would `fit` then.
    """
    refusals: dict[str, list[Refusal]] = {}
    of_chains = [kernel for kernel in kernels if len(kernel.pattern) > 1 and platform.runs(kernel.target)]
    for pattern in sorted({kernel.pattern for kernel in of_chains}, key=lambda pattern: (-len(pattern), pattern)):
        if "+".join(pattern) not in operators:
            continue  # nobody describes one of its operators: a warning of its own
        named = sorted(kernel.name for kernel in of_chains if kernel.pattern == pattern)
        for last in [node for node in graph.nodes if node.op == pattern[-1]]:
            reasons = dict[str, None]()
            for chain in _chains(graph, last, pattern, operators):
                reason = chain if isinstance(chain, str) else _slower(graph, chain, platform, decisions, candidates_of)
                reason = reason or ("" if fit else _SHORT)
                if not isinstance(chain, str) and not reason:
                    graph, reasons = _joined(graph, chain), {}
                    break
                reasons[reason] = None
            if reasons:
                said = "; ".join(reasons)
                refusals.setdefault(last.name, []).extend(Refusal(candidate=name, reason=said) for name in named)
    return GraphForKernels(graph=graph, refusals={name: tuple(refused) for name, refused in refusals.items()})


def _chains(
    graph: Graph, last: Node, pattern: Sequence[str], operators: Mapping[str, Operator]
) -> Iterator[Node | str]:
    """The nodes that compute chains that end in `last`, by each of its inputs one, or why there is none."""
    producer, paths = graph.producer(), [[last]]
    for op in reversed(pattern[:-1]):
        longer = [
            [producer[name], *nodes]
            for nodes in paths
            for name in dict.fromkeys(nodes[0].inputs)
            if name in producer and producer[name].op == op
        ]
        if not longer:
            yield f"computes {' -> '.join(pattern)}; nothing that '{paths[0][0].name}' reads is written by {op}"
            return
        paths = longer
    yield from (_chain(graph, nodes, operators) for nodes in paths)


def _chain(graph: Graph, nodes: Sequence[Node], operators: Mapping[str, Operator]) -> Node | str:
    """The node that computes these, or why there is none."""
    shared = _seen_elsewhere(graph, nodes)
    if shared:
        return shared
    try:
        return chain_node(nodes, graph.tensors, operators)
    except ValueError as refused:
        return str(refused)


def _seen_elsewhere(graph: Graph, nodes: Sequence[Node]) -> str:
    readers = graph.consumers()
    for node in nodes[:-1]:
        (inner, *others) = node.outputs
        if others:
            return f"'{node.name}' has {len(node.outputs)} outputs"
        if inner in graph.outputs:
            return f"'{inner}' inside the chain is an output of the network"
        if len(readers[inner]) != 1:
            return f"'{inner}' inside the chain is read by {len(readers[inner])} steps"
    return ""


def _slower(
    graph: Graph,
    chain: Node,
    platform: Platform,
    decisions: Decisions,
    candidates_of: Callable[[Site], NodeCandidates],
) -> str:
    """Why the chain's nodes are computed one by one; empty where they are not."""
    site = _joined(graph, chain).site(chain)
    members = [link.node for link in chain.links]
    inside = {name for link in chain.links[:-1] for name in (link.node.name, link.output.name)}
    if named := sorted(inside & _decided(decisions)):
        return f"something is decided about '{named[0]}', which would be inside the chain"
    result = candidates_of(site)
    if not result.layers:
        return "; ".join(refusal.reason for refusal in result.refusals) or "no kernel of this target computes it"
    if pinned := decisions.kernels.get(chain.name):
        return "" if pinned in {layer.kernel.name for layer in result.layers} else f"'{pinned}' is pinned instead"
    one_by_one = [candidates_of(graph.site(node)) for node in members]
    if not all(candidates.layers for candidates in one_by_one):
        return ""
    together, apart = _time(result, platform), sum(_time(candidates, platform) for candidates in one_by_one)
    return "" if together <= apart else f"{together:,.0f} cycles (estimate); one by one its steps take {apart:,.0f}"


def _decided(decisions: Decisions) -> set[str]:
    """Nodes and values that somebody has decided something about."""
    grouped = {name for group in decisions.groups for name in group}
    named = (decisions.kernels, decisions.engines, decisions.layouts, decisions.order, decisions.memories)
    return grouped.union(*named, decisions.tiles, decisions.in_place)


def _time(candidates: NodeCandidates, platform: Platform) -> float:
    """Of all cores, by the kernel that is chosen."""
    best = candidates.candidates[0]
    return best.cycles / engine_of(best.kernel, platform).cores


def _joined(graph: Graph, chain: Node) -> Graph:
    inside = {link.node.name for link in chain.links[:-1]}
    nodes = (chain if node.name == chain.name else node for node in graph.nodes if node.name not in inside)
    return graph.with_nodes(tuple(nodes))
