"""Knows what the core itself offers, through the same hooks as any plugin. Imports each thing when asked for it.
Does not know any target: those come from other packages.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from tilewright.ir.plugin_contract import hookimpl

if TYPE_CHECKING:
    from tilewright.ir.graphs.model_formats import Importer
    from tilewright.ir.graphs.operator import GraphPass, Operator
    from tilewright.ir.machines.kernel import Kernel
    from tilewright.ir.plans.allocation import Allocator
    from tilewright.ir.plans.tiler import Tiler
    from tilewright.ir.programs.program import CodePass
    from tilewright.ir.programs.runner import Runner
    from tilewright.plugins.offers import Exporter


@hookimpl
def tilewright_operators() -> Iterable[Operator]:
    """The vocabulary."""
    from tilewright.operators.families import FAMILIES

    return tuple(operator for family in FAMILIES for operator in import_module(family).OPERATORS)


@hookimpl
def tilewright_kernels() -> Iterable[Kernel]:
    """Portable C for all of it."""
    from tilewright.operators.families import FAMILIES

    return tuple(kernel for family in FAMILIES for kernel in import_module(family).KERNELS)


@hookimpl
def tilewright_graph_passes() -> Iterable[GraphPass]:
    """The passes that every compilation runs."""
    from tilewright.rewrite.passes import PASSES

    return PASSES


@hookimpl
def tilewright_tilers() -> Iterable[Tiler]:
    """Tilers for machines with scratchpads, the one for machines with one memory, and the choice between them."""
    from tilewright.tile.strategies import TILERS, WholeTiler

    return (*TILERS, WholeTiler())


@hookimpl
def tilewright_allocators() -> Iterable[Allocator]:
    """The heuristics, and the one that chooses among allocators."""
    from tilewright.allocate.auto import Auto
    from tilewright.allocate.baselines import GreedyBySize, HillClimb
    from tilewright.allocate.best_fit import BestFit

    return (Auto(), BestFit(), GreedyBySize(), HillClimb())


@hookimpl
def tilewright_code_passes() -> Iterable[CodePass]:
    """The application's hooks, marks of lifetimes, memories of its own, profiles, and tensors in print."""
    from tilewright.transform.hooks import HOOKS
    from tilewright.transform.lifetimes import LIFETIMES
    from tilewright.transform.passthrough import PASSTHROUGH
    from tilewright.transform.print_tensors import PRINT_TENSORS
    from tilewright.transform.profile import PROFILE

    return (HOOKS, LIFETIMES, PASSTHROUGH, PRINT_TENSORS, PROFILE)


@hookimpl
def tilewright_runners() -> Iterable[Runner]:
    """This machine, twins of others on it, and boards on a serial line."""
    from tilewright.runners.host import HostRunner
    from tilewright.runners.serial_line.mlperf_tiny import MlperfTinyRunner
    from tilewright.runners.serial_line.serial_runner import SerialRunner
    from tilewright.runners.twin import RACE, TwinRunner

    return (HostRunner(), TwinRunner(), RACE, SerialRunner(), MlperfTinyRunner())


@hookimpl
def tilewright_importers() -> Iterable[Importer]:
    """The format that every other becomes."""
    from tilewright.frontend.reading.formats import ONNX

    return (ONNX,)


@hookimpl
def tilewright_exporters() -> Iterable[Exporter]:
    """Layouts for build systems."""
    from tilewright.exporters.build_systems import EXPORTERS

    return EXPORTERS
