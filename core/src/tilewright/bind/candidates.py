"""Knows which kernels can compute a node, and collects the reason of every one that cannot.
Does not know layouts or memory; which candidate is used is a decision made elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tilewright.errors import Refusal
from tilewright.graph import Site
from tilewright.kernel import Kernel, TileShape
from tilewright.operands import kernel_access
from tilewright.operator import Operator
from tilewright.platform import Engine, Platform
from tilewright.stages import Candidate
from tilewright.work import operations


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The candidates for one node, cheapest first, and all refusals."""

    candidates: tuple[Candidate, ...]
    refusals: tuple[Refusal, ...]


def choices(site: Site, operator: Operator, kernels: Iterable[Kernel], platform: Platform) -> Choices:
    """Ask every kernel for `site`'s operator that is meant for `platform`."""
    candidates: list[Candidate] = []
    refusals: list[Refusal] = []
    for kernel in sorted(kernels, key=lambda kernel: kernel.name):
        reason = _refusal(kernel, site, platform)
        if reason is None:
            candidates.append(Candidate(kernel=kernel, cycles=_cycles(kernel, operator, site, platform)))
        elif reason:
            refusals.append(Refusal(candidate=kernel.name, reason=reason))
    candidates.sort(key=lambda item: (item.cycles, item.kernel.target == "*", -item.kernel.rank, item.kernel.name))
    return Choices(candidates=tuple(candidates), refusals=tuple(refusals))


def kernels_by_operator(kernels: Mapping[str, Kernel]) -> dict[str, list[Kernel]]:
    """The kernels for each operator."""
    found: dict[str, list[Kernel]] = {}
    for kernel in kernels.values():
        found.setdefault(kernel.op, []).append(kernel)
    return found


def engine_of(kernel: Kernel, platform: Platform) -> Engine:
    """The engine that runs `kernel`."""
    named = {engine.name: engine for engine in platform.engines}
    return named[kernel.engine] if kernel.engine else platform.engines[0]


def _refusal(kernel: Kernel, site: Site, platform: Platform) -> str | None:
    """None: accepted. Empty: another platform's kernel, not worth mentioning."""
    if not platform.runs(kernel.target):
        return ""
    if len(kernel.pattern) > 1:
        return f"computes the chain {' -> '.join(kernel.pattern)}, which this release binds node by node"
    if kernel.engine and kernel.engine not in {engine.name for engine in platform.engines}:
        return f"runs on engine '{kernel.engine}', which target '{platform.name}' does not have"
    return _unreachable(engine_of(kernel, platform).name, site, platform) or kernel.accepts(site)


def _unreachable(engine: str, site: Site, platform: Platform) -> str | None:
    """Why the engine could not compute the node wherever its operands were."""
    if not any(memory.lets(engine, "rw") for memory in platform.of_kind("ram")):
        return f"engine '{engine}' can write no memory of target '{platform.name}'"
    if site.constants and not any(memory.lets(engine, "ro") for memory in platform.memories):
        return f"engine '{engine}' can read no memory of target '{platform.name}'"
    return None


def _cycles(kernel: Kernel, operator: Operator, site: Site, platform: Platform) -> float:
    """What one core takes: the kernel's own cost model, what the platform measured of portable C, or operations over
    throughput.
    """
    if kernel.cycles is None:
        engine = engine_of(kernel, platform)
        return operations(kernel, operator, site, platform, engine) * engine.cores / engine.operations_per_cycle
    access = kernel_access(operator, kernel, site)
    box = {loop.name: (0, loop.extent) for loop in access.loops}
    return kernel.cycles(TileShape(site=site, access=access, box=box))
