"""Knows what a graph pass is. Does not know any pass, nor the order they run in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class PassContext:
    """What a pass may look at beside the graph."""

    operators: Mapping[str, Operator]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassResult:
    """The new graph (the same object when nothing changed) and what the user should know about it."""

    graph: Graph
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPass:
    """A named rewrite. `apply` is pure; the graph is verified after it. Outputs stay bit-equal."""

    name: str
    summary: str
    apply: Callable[[Graph, PassContext], PassResult]
    after: tuple[str, ...] = ()  # passes that must have run before this one
    before: tuple[str, ...] = ()
