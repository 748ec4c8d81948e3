"""Knows the kinds of things that plugins offer: their entry-point prefix, their hook and the type of their values.
Does not know any plugin, and imports a kind's type only when asked for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

GROUP = "tilewright.v1"  # the major version of the contract between the core and its plugins
CORE = "tilewright"  # the distribution that plugins are beside
OBSERVER = "observer"  # offers no values: its hook is told of every stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of thing. An entry point is named `KIND.NAME`, for packs `KIND.PACK` or `KIND.TARGET.PACK`."""

    name: str
    plural: str
    label: str  # what a user calls it
    defined_in: str  # module and name of the values' type
    pack: bool = False  # the entry point names a bundle: what is inside is known after loading
    compiled: bool = True  # of packs: a compilation loads those that there are; False: nobody but who asks for them

    @property
    def hook(self) -> str:
        """The hook that returns values of this kind."""
        return f"tilewright_{self.plural}"

    def value_type(self) -> type[Any]:
        """The type every value must have. A Protocol is checked by the presence of its members."""
        module, name = self.defined_in.split(":")
        result: type[Any] = getattr(import_module(module), name)
        return result


KINDS = (
    Kind(name="platform", plural="platforms", label="target", defined_in="tilewright.ir.machines.platform:Platform"),
    Kind(
        name="memory_hierarchy",
        plural="memory_hierarchies",
        label="memory hierarchy",
        defined_in="tilewright.ir.machines.platform:MemoryHierarchy",
    ),
    Kind(
        name="board",
        plural="boards",
        label="board",
        defined_in="tilewright.ir.machines.board:Board",
        pack=True,
        compiled=False,
    ),
    Kind(
        name="operator",
        plural="operators",
        label="operator",
        defined_in="tilewright.ir.graphs.operator:Operator",
        pack=True,
    ),
    Kind(name="kernel", plural="kernels", label="kernel", defined_in="tilewright.ir.machines.kernel:Kernel", pack=True),
    Kind(
        name="graph_pass",
        plural="graph_passes",
        label="graph pass",
        defined_in="tilewright.ir.graphs.operator:GraphPass",
        pack=True,
    ),
    Kind(name="tiler", plural="tilers", label="tiler", defined_in="tilewright.ir.plans.tiler:Tiler"),
    Kind(
        name="allocator", plural="allocators", label="allocator", defined_in="tilewright.ir.plans.allocation:Allocator"
    ),
    Kind(
        name="code_pass",
        plural="code_passes",
        label="code pass",
        defined_in="tilewright.ir.programs.program:CodePass",
        pack=True,
    ),
    Kind(name="runner", plural="runners", label="runner", defined_in="tilewright.ir.programs.runner:Runner"),
    Kind(
        name="importer",
        plural="importers",
        label="importer",
        defined_in="tilewright.ir.graphs.model_formats:Importer",
    ),
    Kind(
        name="dialect",
        plural="dialects",
        label="dialect",
        defined_in="tilewright.ir.graphs.model_formats:Dialect",
    ),
    Kind(name="exporter", plural="exporters", label="exporter", defined_in="tilewright.plugins.offers:Exporter"),
    Kind(name="command", plural="commands", label="command", defined_in="tilewright.plugins.offers:Command"),
)

KIND_NAMES = tuple(kind.name for kind in KINDS)
PACKS = (*(kind.name for kind in KINDS if kind.pack), OBSERVER)
COMPILED_PACKS = (*(kind.name for kind in KINDS if kind.pack and kind.compiled), OBSERVER)


def kind_named(name: str) -> Kind:
    """The kind of that name. KeyError when there is none."""
    return {kind.name: kind for kind in KINDS}[name]


def announced_names(kind: str) -> tuple[str, ...]:
    """The names of that kind, in alphabetical order, each once. Imports no plugin."""
    import importlib_metadata

    words = (entry.name.partition(".") for entry in importlib_metadata.entry_points(group=GROUP))
    return tuple(sorted({name for word, _, name in words if word == kind}))
