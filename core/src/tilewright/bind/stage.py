"""Knows the `bind` stage: from a graph, a platform and decisions to a Bound.
Does not know the order of steps or any memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.bind.candidates import Choices, choices, engine_of, kernels_by_operator
from tilewright.bind.constants import store_constants
from tilewright.bind.layouts import choose_layouts
from tilewright.bind.relayout import insert_relayouts
from tilewright.decisions import Decisions
from tilewright.errors import Diagnostic, unsupported_error, usage_error
from tilewright.graph import Graph, Site
from tilewright.kernel import Kernel
from tilewright.operator import Operator
from tilewright.platform import Platform
from tilewright.stages import Binding, Bound


def bind(
    graph: Graph,
    platform: Platform,
    operators: Mapping[str, Operator],
    kernels: Mapping[str, Kernel],
    decisions: Decisions,
    diagnostics: tuple[Diagnostic, ...] = (),
) -> Bound:
    """Choose a kernel for every node, a layout for every value, and pack the constants.

    Raises TilewrightError TW2001 (exit 4) that lists every node nobody can compute, with every refusal.
    """
    offered = kernels_by_operator(kernels)

    def ask(site: Site) -> Choices:
        return choices(site, operators[site.node.op], offered.get(site.node.op, ()), platform)

    found = {site.node.name: ask(site) for site in graph.sites()}
    _demand_candidates(graph, found, platform)
    chosen = {name: _pick(name, answer, decisions) for name, answer in found.items()}
    layouts = choose_layouts(graph, operators, chosen, decisions.layouts)
    relaid = insert_relayouts(graph, operators, chosen, layouts)
    for site in relaid.graph.sites():
        if site.node.name not in found:
            found[site.node.name] = ask(site)
            chosen[site.node.name] = _pick(site.node.name, found[site.node.name], decisions)
    sites = list(relaid.graph.sites())
    stored = store_constants([(site, operators[site.node.op], chosen[site.node.name]) for site in sites])
    bindings = {
        site.node.name: Binding(
            node=site.node.name,
            kernel=chosen[site.node.name],
            engine=decisions.engines.get(site.node.name) or engine_of(chosen[site.node.name], platform).name,
            candidates=found[site.node.name].candidates,
            refusals=found[site.node.name].refusals,
            constants=stored.names[site.node.name],
        )
        for site in sites
    }
    return Bound(
        graph=relaid.graph,
        platform=platform,
        bindings=bindings,
        layouts=relaid.layouts,
        constants=stored.arrays,
        diagnostics=diagnostics,
    )


def _pick(node: str, found: Choices, decisions: Decisions) -> Kernel:
    pinned = decisions.kernels.get(node)
    if not pinned:
        return found.candidates[0].kernel
    for candidate in found.candidates:
        if candidate.kernel.name == pinned:
            return candidate.kernel
    said = [f"{refusal.candidate}: {refusal.reason}" for refusal in found.refusals if refusal.candidate == pinned]
    raise usage_error(
        "TW1104",
        f"kernel '{pinned}' is pinned to a node that it cannot compute",
        where=f"node '{node}'",
        details=tuple(said) or ("there is no such kernel for this operator on this target",),
        fix=(f"pin one of: {', '.join(candidate.kernel.name for candidate in found.candidates)}",),
    )


def _demand_candidates(graph: Graph, found: Mapping[str, Choices], platform: Platform) -> None:
    lost = [site for site in graph.sites() if not found[site.node.name].candidates]
    if not lost:
        return
    details: list[str] = []
    for site in lost:
        details.append(f"node '{site.node.name}' ({site.node.op}, {_types(site)})")
        refusals = found[site.node.name].refusals
        details.extend(f"   {refusal.candidate}: {refusal.reason}" for refusal in refusals)
        if not refusals:
            details.append(f"   no kernel for {site.node.op} is installed")
    raise unsupported_error(
        "TW2001",
        f"{len(lost)} of {len(graph.nodes)} nodes cannot run on target '{platform.name}'",
        details=tuple(details),
        fix=(f"tilewright ops --target {platform.name}     lists what is supported, with every constraint",),
    )


def _types(site: Site) -> str:
    def one(name: str, shape: tuple[int, ...]) -> str:
        return f"{name}[{','.join(map(str, shape))}]"

    inputs = " ".join(one(tensor.dtype.value, tensor.shape) for tensor in site.inputs if tensor)
    return f"{inputs} -> {one(site.output.dtype.value, site.output.shape)}"
