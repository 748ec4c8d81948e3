"""Knows what the loaded plugins offer together: frozen mappings by name, and who offers what.
Does not know how plugins are found, loaded or chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tilewright.errors import Diagnostic
from tilewright.plugins.faults import Fault, clash_fault, one_line
from tilewright.plugins.kinds import KINDS
from tilewright.plugins.offers import Command, Exporter, StageEvent

if TYPE_CHECKING:
    from tilewright.ir.graphs.model_formats import Dialect, Importer
    from tilewright.ir.graphs.operator import GraphPass, Operator
    from tilewright.ir.machines.board import Board
    from tilewright.ir.machines.kernel import Kernel
    from tilewright.ir.machines.platform import MemoryHierarchy, Platform
    from tilewright.ir.plans.allocation import Allocator
    from tilewright.ir.plans.tiler import Tiler
    from tilewright.ir.programs.program import CodePass
    from tilewright.ir.programs.runner import Runner
    from tilewright.plugins.host import Loaded


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Provenance:
    """The distribution that offers something."""

    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    """Somebody who wants to hear of finished stages."""

    provenance: Provenance
    observe: Callable[[StageEvent], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """What can be used in one compilation. Every mapping is read-only and sorted by name, whatever was loaded first."""

    platforms: Mapping[str, Platform]
    memory_hierarchies: Mapping[str, MemoryHierarchy]
    boards: Mapping[str, Board]
    operators: Mapping[str, Operator]
    kernels: Mapping[str, Kernel]
    graph_passes: Mapping[str, GraphPass]
    tilers: Mapping[str, Tiler]
    allocators: Mapping[str, Allocator]
    code_passes: Mapping[str, CodePass]
    runners: Mapping[str, Runner]
    importers: Mapping[str, Importer]
    dialects: Mapping[str, Dialect]
    exporters: Mapping[str, Exporter]
    commands: Mapping[str, Command]
    observers: tuple[Observer, ...]
    provenance: Mapping[tuple[str, str], Provenance]  # (kind, name) -> who offers it
    diagnostics: tuple[Diagnostic, ...]  # one warning for each plugin that was left out

    @property
    def distributions(self) -> tuple[Provenance, ...]:
        """Whose things these are, each once, by name."""
        return tuple(sorted(set(self.provenance.values())))

    def owners(self, kind: str) -> Mapping[str, str]:
        """The package of each thing of a kind, with its version, by name."""
        return {name: str(owner) for (of_kind, name), owner in self.provenance.items() if of_kind == kind}

    def stage_finished(self, event: StageEvent) -> tuple[Diagnostic, ...]:
        """Tell every observer; a warning for each one that fails. They cannot change anything."""
        warnings = []
        for observer in self.observers:
            try:
                observer.observe(event)
            except Exception as error:  # an observer may raise anything, and must not end the compilation
                who = f"{observer.provenance.distribution} {observer.provenance.version}"
                message = f"plugin {who} failed while observing stage '{event.stage}': {one_line(error)}"
                warnings.append(Diagnostic(severity="warning", code="TW8009", message=message))
        return tuple(warnings)


def registry_of(loaded: Sequence[Loaded], diagnostics: tuple[Diagnostic, ...] = ()) -> Registry:
    """Everything `loaded` offers. Names must not clash: see `clashes`."""
    values: dict[str, dict[str, Any]] = {kind.plural: {} for kind in KINDS}
    provenance: dict[tuple[str, str], Provenance] = {}
    observers = []
    for plugin in sorted(loaded, key=lambda plugin: plugin.package.name):
        who = Provenance(distribution=plugin.package.name, version=plugin.package.version)
        for kind in KINDS:
            for value in plugin.values.get(kind.name, ()):
                values[kind.plural][value.name] = value
                provenance[kind.name, value.name] = who
        if plugin.observe is not None:
            observers.append(Observer(provenance=who, observe=plugin.observe))
    for kernel in values["kernels"].values():
        operator = _chain_of(kernel, values["operators"])
        if operator is not None:
            values["operators"].setdefault(operator.name, operator)
            provenance.setdefault(("operator", operator.name), provenance["kernel", kernel.name])
    for name, kernel in values["kernels"].items():
        base = values["operators"].get(kernel.op)
        if kernel.stores and base is not None and not _no_stored(base):
            values["kernels"][name], operator = as_stored(kernel, base)
            values["operators"].setdefault(operator.name, operator)
            provenance.setdefault(("operator", operator.name), provenance["kernel", name])
    by_name = {plural: MappingProxyType(dict(sorted(named.items()))) for plural, named in values.items()}
    return Registry(
        **by_name,
        observers=tuple(observers),
        provenance=MappingProxyType(dict(sorted(provenance.items()))),
        diagnostics=diagnostics,
    )


def _chain_of(kernel: Kernel, operators: Mapping[str, Operator]) -> Operator | None:
    """The operator of the chain that a kernel computes; None for others, and where nobody describes one it is of."""
    if len(kernel.pattern) < 2 or not operators.keys() >= set(kernel.pattern):
        return None
    from tilewright.ir.graphs.chains import chain_operator, no_chain

    members = [operators[name] for name in kernel.pattern]
    return None if no_chain(members) else chain_operator(members)


def as_stored(kernel: Kernel, operator: Operator) -> tuple[Kernel, Operator]:
    """A kernel of values in forms of its own, as one of the operator that is made for it; and that operator."""
    from tilewright.ir.graphs.stored_sites import stored_operator
    from tilewright.ir.plans.stored_kernel import storing

    return storing(kernel, operator), stored_operator(operator)


def _no_stored(operator: Operator) -> str:
    """Why no kernel of it has values in forms of its own; empty where one may."""
    return f"{operator.name} has any number of inputs" if "..." in operator.inputs else ""


def idle_kernels(registry: Registry) -> tuple[Diagnostic, ...]:
    """A warning (TW8013) for each kernel that no network will use, because nobody describes the operator it is for."""
    warnings = []
    for name, kernel in registry.kernels.items():
        owner = registry.provenance["kernel", name]
        known = registry.operators.get(kernel.computes)
        if known is not None and not (kernel.stores and _no_stored(known)):
            continue
        unknown = next((op for op in kernel.pattern or (kernel.op,) if op not in registry.operators), None)
        if unknown is None:
            from tilewright.ir.graphs.chains import no_chain

            members = [registry.operators[op] for op in kernel.pattern]
            reason = no_chain(members) if known is None else f"it has `stored`, and {_no_stored(known)}"
            message = f"kernel '{name}' of {owner.distribution} {owner.version} is never used: {reason}"
            warnings.append(Diagnostic(severity="warning", code="TW8013", message=message))
            continue
        operators = [
            operator.name
            for operator in registry.operators.values()
            if any(source.op_type == unknown for source in operator.imports)
        ]
        meant = f"; ONNX's {unknown} is the operator {' or '.join(operators)} here" if operators else ""
        message = (
            f"kernel '{name}' of {owner.distribution} {owner.version} is never used: "
            f"no installed package describes an operator '{unknown}'{meant}"
        )
        warnings.append(Diagnostic(severity="warning", code="TW8013", message=message))
    return tuple(warnings)


def clashes(loaded: Sequence[Loaded]) -> tuple[Fault, ...]:
    """One fault for each name that several plugin objects offer."""
    owners: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for plugin in loaded:
        for kind in KINDS:
            for value in plugin.values.get(kind.name, ()):
                owners.setdefault((kind.label, value.name), []).append((plugin.package.name, plugin.package.version))
    return tuple(
        clash_fault(f"{label} '{name}'", offered_by)
        for (label, name), offered_by in sorted(owners.items())
        if len(offered_by) > 1
    )
