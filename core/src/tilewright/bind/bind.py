"""Knows the `bind` stage: from a graph, a platform and decisions to a Bound.
Does not know the order of steps or any memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping

from tilewright.bind.candidates import NodeCandidates, choices, engine_of, kernels_by_operator
from tilewright.bind.chains import with_chains
from tilewright.bind.constant_growth import growth_notes, within_growth
from tilewright.bind.constants import store_constants
from tilewright.bind.layouts import choose_layouts, insert_relayouts
from tilewright.bind.narrow_weights import narrow_notes
from tilewright.bind.stored_graph import padding_notes, with_forms
from tilewright.errors import Diagnostic, Refusal, typed, unsupported_error, usage_error
from tilewright.ir.graphs.graph import Graph, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.layer import Layer, Layers, layer_key
from tilewright.ir.plans.stages import Binding, Bound


def bind(
    graph: Graph,
    platform: Platform,
    operators: Mapping[str, Operator],
    kernels: Mapping[str, Kernel],
    decisions: Decisions,
    diagnostics: tuple[Diagnostic, ...] = (),
    layers: Layers | None = None,
    chains: bool = True,
) -> Bound:
    """Choose a kernel for every node, a layout for every value, and pack the constants.

    `layers`: what is known of distinct layers from binding before, with the same kernels. `chains`: whether kernels of
    several nodes, or of values in forms, may be chosen. TilewrightError TW2001 (exit 4) lists what nobody can compute.
    """
    candidates_of = _candidates_by_site(kernels, platform, layers or Layers(operators=operators))
    chained = with_chains(graph, kernels.values(), platform, operators, decisions, candidates_of, fit=chains)
    formed = with_forms(chained.graph, kernels, platform, operators, decisions, candidates_of, fit=chains)
    graph = formed.graph
    result = within_growth({site.node.name: candidates_of(site) for site in graph.sites()}, platform)
    result = _refused(_refused(result, chained.refusals), formed.refusals)
    _demand_candidates(graph, result, platform)
    chosen = {name: _pick(name, answer, decisions) for name, answer in result.items()}
    layouts = choose_layouts(graph, operators, chosen, decisions.layouts, decisions.state)
    relaid = insert_relayouts(graph, operators, chosen, layouts)
    result |= {site.node.name: candidates_of(site) for site in relaid.graph.sites() if site.node.name not in result}
    layer_of = {node.name: _pick(node.name, result[node.name], decisions) for node in relaid.graph.nodes}
    stored = store_constants(layer_of, platform)
    return Bound(
        graph=relaid.graph,
        platform=platform.running(layer.kernel.name for layer in layer_of.values()),
        bindings={
            name: _binding(name, layer, result[name], stored.names[name], _engine(name, layer, platform, decisions))
            for name, layer in layer_of.items()
        },
        layouts=relaid.layouts,
        constants=stored.arrays,
        diagnostics=(*diagnostics, *_notes(layer_of, result, platform), *padding_notes(relaid.graph, operators)),
        layers=layer_of,
    )


def _notes(
    layer_of: Mapping[str, Layer], candidates: Mapping[str, NodeCandidates], platform: Platform
) -> Iterator[Diagnostic]:
    """What a user should know of the kernels that were chosen."""
    yield from growth_notes(layer_of, candidates, platform)
    yield from narrow_notes(layer_of)


def _refused(
    candidates: Mapping[str, NodeCandidates], refusals: Mapping[str, tuple[Refusal, ...]]
) -> dict[str, NodeCandidates]:
    """With refusals that are about nodes of these names alone."""
    return {name: answer.refused_by(refusals.get(name, ())) for name, answer in candidates.items()}


def _candidates_by_site(
    kernels: Mapping[str, Kernel], platform: Platform, layers: Layers
) -> Callable[[Site], NodeCandidates]:
    """Who computes a node, and who refuses: asked once for all nodes that are the same layer."""
    offered = kernels_by_operator(kernels)
    known: dict[Hashable, NodeCandidates] = {}

    def ask(site: Site) -> NodeCandidates:
        key = layer_key(site)
        if key not in known:
            known[key] = choices(site, key, offered.get(site.node.op, ()), platform, layers)
        return known[key]

    return ask


def _pick(node: str, candidates: NodeCandidates, decisions: Decisions) -> Layer:
    """The kernel that is pinned, or the cheapest of those that run on the engine that is."""
    pinned, engine = decisions.kernels.get(node), decisions.engines.get(node)
    if not pinned:
        there = (layer for layer in candidates.layers if not engine or layer.kernel.engine in ("", engine))
        return next(there, candidates.layers[0])
    for layer in candidates.layers:
        if layer.kernel.name == pinned:
            return layer
    said = [f"{refusal.candidate}: {refusal.reason}" for refusal in candidates.refusals if refusal.candidate == pinned]
    raise usage_error(
        "TW1104",
        f"kernel '{pinned}' is pinned to a node that it cannot compute",
        where=f"node '{node}'",
        details=tuple(said) or ("there is no such kernel for this operator on this target",),
        fix=(f"pin one of: {', '.join(candidate.kernel.name for candidate in candidates.candidates)}",),
    )


def _engine(node: str, layer: Layer, platform: Platform, decisions: Decisions) -> str:
    """The engine that computes a node: its kernel's, or where that runs on any the one that is pinned."""
    own, pinned = engine_of(layer.kernel, platform).name, decisions.engines.get(node)
    names = [engine.name for engine in platform.engines]
    possible = [own] if layer.kernel.engine else names
    if not pinned or pinned in possible:
        return pinned or own
    reason = f"its kernel '{layer.kernel.name}' runs on '{own}' only"
    raise usage_error(
        "TW1104",
        f"engine '{pinned}' is pinned to a node that it cannot compute",
        where=f"node '{node}'",
        details=(reason if pinned in names else f"target '{platform.name}' has no such engine",),
        fix=(f"pin one of: {', '.join(possible)}",),
    )


def _binding(node: str, layer: Layer, candidates: NodeCandidates, constants: Mapping[str, str], engine: str) -> Binding:
    return Binding(
        node=node,
        kernel=layer.kernel,
        engine=engine,
        candidates=candidates.candidates,
        refusals=candidates.refusals,
        constants=constants,
    )


def _demand_candidates(graph: Graph, candidates: Mapping[str, NodeCandidates], platform: Platform) -> None:
    lost = [site for site in graph.sites() if not candidates[site.node.name].candidates]
    if not lost:
        return
    details: list[str] = []
    for site in lost:
        details.append(f"node '{site.node.name}' ({site.node.op}, {_types(site)})")
        refusals = candidates[site.node.name].refusals
        details.extend(f"   {refusal.candidate}: {refusal.reason}" for refusal in refusals)
        if not refusals:
            details.append(f"   no kernel for {site.node.op} is installed")
    raise unsupported_error(
        "TW2001",
        f"{len(lost)} of {len(graph.nodes)} nodes cannot run on target '{platform.name}'",
        details=tuple(details),
        fix=(typed("tilewright", "ops", "--target", platform.name, gives="lists the kernels of every operator"),),
    )


def _types(site: Site) -> str:
    def one(name: str, shape: tuple[int, ...]) -> str:
        return f"{name}[{','.join(map(str, shape))}]"

    inputs = " ".join(one(tensor.dtype.value, tensor.shape) for tensor in site.inputs if tensor)
    return f"{inputs} -> {one(site.output.dtype.value, site.output.shape)}"
