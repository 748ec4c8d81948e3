"""Knows the hooks: what the core asks a plugin, and what the plugin answers.
Does not know any plugin, nor who calls its hooks.

A plugin is any object with functions of these names, marked with `hookimpl`; a module is the usual one. All but the
observer take no arguments and return an iterable of frozen values (or None for nothing), the same ones every time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pluggy import HookspecMarker

from tilewright.ir.plugin_contract import PROJECT

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
    from tilewright.plugins.offers import Command, Exporter, StageEvent

hookspec = HookspecMarker(PROJECT)


@hookspec
def tilewright_platforms() -> Iterable[Platform] | None:
    """Targets: what `--target NAME` selects. Entry point `platform.NAME`."""


@hookspec
def tilewright_memory_hierarchies() -> Iterable[MemoryHierarchy] | None:
    """Other memories for a target somebody has: a board, a bigger chip. Entry point `memory_hierarchy.NAME`."""


@hookspec
def tilewright_boards() -> Iterable[Board] | None:
    """Boards and parts, for `--board NAME` and `tilewright fit`. Entry point `board.PACK`."""


@hookspec
def tilewright_operators() -> Iterable[Operator] | None:
    """Operators beyond the core's vocabulary. Entry point `operator.PACK`."""


@hookspec
def tilewright_kernels() -> Iterable[Kernel] | None:
    """Kernels. Entry point `kernel.TARGET.PACK` for one target, `kernel.PACK` for every target."""


@hookspec
def tilewright_graph_passes() -> Iterable[GraphPass] | None:
    """Rewrites of the graph, outputs bit-equal. Entry point `graph_pass.PACK` or `graph_pass.TARGET.PACK`."""


@hookspec
def tilewright_tilers() -> Iterable[Tiler] | None:
    """Strategies that choose tiles. Entry point `tiler.NAME`."""


@hookspec
def tilewright_allocators() -> Iterable[Allocator] | None:
    """Strategies that place buffers. Entry point `allocator.NAME`."""


@hookspec
def tilewright_code_passes() -> Iterable[CodePass] | None:
    """Rewrites of the C tree. Entry point `code_pass.PACK` or `code_pass.TARGET.PACK`."""


@hookspec
def tilewright_runners() -> Iterable[Runner] | None:
    """Ways to execute what was generated. Entry point `runner.NAME`."""


@hookspec
def tilewright_importers() -> Iterable[Importer] | None:
    """Formats of model files beside ONNX. Entry point `importer.NAME`."""


@hookspec
def tilewright_dialects() -> Iterable[Dialect] | None:
    """ONNX files that mean more than ONNX says. Entry point `dialect.NAME`."""


@hookspec
def tilewright_exporters() -> Iterable[Exporter] | None:
    """Further output files. Entry point `exporter.NAME`."""


@hookspec
def tilewright_commands() -> Iterable[Command] | None:
    """Subcommands of `tilewright`. Entry point `command.NAME`."""


@hookspec
def tilewright_stage_finished(event: StageEvent) -> None:
    """Called after every stage, to watch and not to change. Entry point `observer.PACK`."""
