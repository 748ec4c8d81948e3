"""Knows which kernels can compute a node, how much work it is to each, and the reason of every kernel that cannot.
Does not know layouts or memory; which candidate is used is a decision made elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from tilewright.errors import Refusal
from tilewright.ir.graphs.chains import unproved
from tilewright.ir.graphs.graph import Graph, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.graphs.stored_sites import SUFFIX
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Engine, Platform
from tilewright.ir.machines.stated_cycles import stated_cycles
from tilewright.ir.plans.constant_homes import homeless
from tilewright.ir.plans.layer import Layer, Layers
from tilewright.ir.plans.stages import Candidate
from tilewright.ir.plugin_contract import demand_cost


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCandidates:
    """The candidates for one node, cheapest first, the layer as each would compute it, and all refusals."""

    candidates: tuple[Candidate, ...]
    layers: tuple[Layer, ...]
    refusals: tuple[Refusal, ...]

    def refused_by(self, more: Iterable[Refusal]) -> NodeCandidates:
        """The same with refusals that are about this node alone."""
        return replace(self, refusals=(*self.refusals, *more))


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphForKernels:
    """The graph with nodes as kernels of a kind compute them, such as chains, and by node why none of these does."""

    graph: Graph
    refusals: Mapping[str, tuple[Refusal, ...]] = field(default_factory=dict)


def choices(site: Site, key: Hashable, kernels: Iterable[Kernel], platform: Platform, layers: Layers) -> NodeCandidates:
    """Ask every kernel for `site`'s operator that is meant for `platform`. `key` is `layer_key(site)`."""
    candidates: list[tuple[Candidate, Layer]] = []
    refusals: list[Refusal] = []
    for kernel in sorted(kernels, key=lambda kernel: kernel.name):
        if not platform.runs(kernel.target):
            continue  # another platform's kernel, not worth mentioning
        answer = _unusable(kernel, site, platform, layers.operators) or layers.of(kernel, site, key)
        if isinstance(answer, Layer):
            answer = _homeless(answer, platform) or _unpackable(answer, platform) or answer
        if isinstance(answer, Layer):
            candidates.append((Candidate(kernel=kernel, cycles=whole_cycles(answer, platform)), answer))
        else:
            refusals.append(Refusal(candidate=kernel.name, reason=answer))
    candidates.sort(key=lambda candidate: _rank(candidate[0], engine_of(candidate[0].kernel, platform)))
    return NodeCandidates(
        candidates=tuple(candidate for candidate, _ in candidates),
        layers=tuple(layer for _, layer in candidates),
        refusals=tuple(refusals),
    )


def _rank(candidate: Candidate, engine: Engine) -> tuple[bool, float, bool, int, str]:
    """Smaller is better: what a preferred engine runs, time of all cores, kernels for the platform, their own ranks."""
    kernel = candidate.kernel
    return not engine.preferred, candidate.cycles / engine.cores, kernel.target == "*", -kernel.rank, kernel.name


def kernels_by_operator(kernels: Mapping[str, Kernel]) -> dict[str, list[Kernel]]:
    """The kernels for each operator."""
    result: dict[str, list[Kernel]] = {}
    for kernel in kernels.values():
        if kernel.stores and not kernel.op.endswith(SUFFIX):
            continue  # of an operator without such nodes: a warning of its own
        result.setdefault(kernel.computes, []).append(kernel)
    return result


def engine_of(kernel: Kernel, platform: Platform) -> Engine:
    """The engine that runs `kernel`."""
    named = {engine.name: engine for engine in platform.engines}
    return named[kernel.engine] if kernel.engine else platform.engines[0]


def _unusable(kernel: Kernel, site: Site, platform: Platform, operators: Mapping[str, Operator]) -> str | None:
    """Why the kernel need not be asked."""
    if site.node.links and (reason := _incalculable(kernel, site, operators)):
        return reason
    if kernel.engine and kernel.engine not in {engine.name for engine in platform.engines}:
        return f"runs on engine '{kernel.engine}', which target '{platform.name}' does not have"
    if not {"*", site.node.rounding}.intersection(kernel.roundings):
        return f"rounds as {' or '.join(kernel.roundings)} does; this layer's arithmetic is {site.node.rounding}"
    return _unreachable(engine_of(kernel, platform).name, site, platform)


def _incalculable(kernel: Kernel, site: Site, operators: Mapping[str, Operator]) -> str:
    """Why nothing can be said about a chain: of its results, or of what it reads where the kernel does not say so."""
    if reason := unproved(site, operators):
        return reason
    try:
        if kernel.access is None:
            operators[site.node.op].access(site)
    except ValueError as refused:
        return f"{refused}; its `access` may say what it reads"
    return ""


def _unreachable(engine: str, site: Site, platform: Platform) -> str | None:
    """Why the engine could not compute the node wherever its operands were."""
    if not any(memory.lets(engine, "rw") for memory in platform.of_kind("ram")):
        return f"engine '{engine}' can write no memory of target '{platform.name}'"
    if site.constants and not any(memory.lets(engine, "ro") for memory in platform.memories):
        return f"engine '{engine}' can read no memory of target '{platform.name}'"
    return None


def _homeless(layer: Layer, platform: Platform) -> str:
    """Why a constant of the layer could not live where the kernel reads it; "" where all can."""
    engine = engine_of(layer.kernel, platform).name
    reasons = {operand: homeless(layer.kernel, operand, engine, platform) for operand in layer.kernel.memories}
    return next((reason for operand, reason in reasons.items() if reason and operand in layer.constants), "")


def _unpackable(layer: Layer, platform: Platform) -> str:
    """Why constants could not be packed for each tile; "" where they can, or are not."""
    several = layer.kernel.parallel if engine_of(layer.kernel, platform).cores > 1 else ()
    loops = [loop.name for loop in layer.access.loops if loop.kind == "parallel"] if "*" in several else several
    return layer.unpackable(loops)


def whole_cycles(layer: Layer, platform: Platform) -> float:
    """What one core takes: the kernel's own cost model, what the platform measured of portable C, or operations over
    throughput.
    """
    kernel = layer.kernel
    engine = engine_of(kernel, platform)
    stated = stated_cycles(kernel, engine, layer.whole)
    if stated is not None and kernel.finish is not None:
        stated += kernel.finish.cycles(layer.whole) / engine.finishing_cores
    if stated is not None:
        named = "cycles" if kernel.cycles else "instructions"
        return demand_cost(stated, f"kernel '{kernel.name}'", kernel.cycles or kernel.instructions, named)
    return operations(kernel, layer.operator, layer.site, platform, engine) * engine.cores / engine.operations_per_cycle


def operations(kernel: Kernel, operator: Operator, site: Site, platform: Platform, engine: Engine) -> float:
    """Of a whole node, such that operations over `engine`'s throughput are what it takes.

    Portable C that the platform has measured counts as what would take that long.
    """
    known = platform.portable_cycles(site) if platform.portable_cycles and kernel.target == "*" else None
    if known is not None:
        return known * engine.operations_per_cycle / engine.cores
    return float(operator.macs(site) or site.output.elements)
