"""Knows what the names and patterns that a user types stand for: tensors, layers and constants as the ONNX file calls
them, and what became of them. Does not know what is done with what they stand for.

A layer may have been merged with its neighbours, a tensor between merged layers is gone, a weight is stored as its
kernel wants it. So a name stands for the layer that took it in: for what that layer writes, its scratch, its constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.plans.stages import Bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a pattern stands for: values of the graph, layers' scratch buffers, and stored constants, by name."""

    values: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()

    def __or__(self, other: Meaning) -> Meaning:
        return Meaning(
            values=tuple(dict.fromkeys((*self.values, *other.values))),
            scratch=tuple(dict.fromkeys((*self.scratch, *other.scratch))),
            constants=tuple(dict.fromkeys((*self.constants, *other.constants))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNames:
    """Every name that can be typed, and what it stands for."""

    meanings: Mapping[str, Meaning] = field(default_factory=dict)

    def matching(self, pattern: str) -> Meaning | None:
        """A name itself, or a pattern with `*`, `?` and `[...]`; None where nothing is named so."""
        if pattern in self.meanings:
            return self.meanings[pattern]
        matches = [meaning for name, meaning in self.meanings.items() if fnmatchcase(name, pattern)]
        if not matches:
            return None
        total = Meaning()
        for meaning in matches:
            total |= meaning
        return total


def names_of(bound: Bound, source: Graph | None = None) -> KnownNames:
    """The names of a bound graph, and with `source`, the graph as it was imported, those of the ONNX file."""
    meanings: dict[str, Meaning] = {}

    def add(name: str, meaning: Meaning) -> None:
        meanings[name] = meanings.get(name, Meaning()) | meaning

    graph = bound.graph
    for name in bound.layouts:
        if name not in graph.constants:
            add(name, Meaning(values=(name,)))
    for name in bound.constants:
        add(name, Meaning(constants=(name,)))
    layers: dict[str, Meaning] = {}
    for node in graph.nodes:
        layer = _layer(node, bound)
        for name in dict.fromkeys((node.name, *node.origin)):
            add(name, layer)
            layers[name] = layers.get(name, Meaning()) | layer
    if source is not None:
        for name, meaning in _of_source(source, bound, layers):
            if name not in meanings:
                add(name, meaning)
    return KnownNames(meanings=meanings)


def values_named(name: str, graph: Graph, source: Graph | None = None) -> tuple[str, ...]:
    """The values of a graph that is not bound yet for which a name stands, which is no pattern: the value itself, or
    what the layer writes that is called so, or that took in what writes it in `source`, the graph as it was imported.
    """
    if name in graph.tensors:
        return () if name in graph.constants else (name,)
    writers = {value: node.name for node in source.nodes for value in node.outputs} if source is not None else {}
    layers = {name, writers.get(name, name)}
    return tuple(
        value for node in graph.nodes if layers.intersection((node.name, *node.origin)) for value in node.outputs
    )


def _layer(node: Node, bound: Bound) -> Meaning:
    return Meaning(
        values=tuple(value for value in node.outputs if value),
        scratch=(f"{node.name}.scratch",),
        constants=tuple(dict.fromkeys(bound.bindings[node.name].constants.values())),
    )


def _of_source(source: Graph, bound: Bound, layers: Mapping[str, Meaning]) -> Iterable[tuple[str, Meaning]]:
    """Tensors of the file that are gone, by the layers that took them in."""
    for node in source.nodes:
        layer = _layers_of((node,), layers)
        if layer is not None:
            yield from ((value, Meaning(values=layer.values)) for value in node.outputs if value)
    readers = source.consumers()
    for name, array in source.constants.items():
        layer = _reading(name, readers, layers)
        if layer is not None:
            same_size = tuple(constant for constant in layer.constants if bound.constants[constant].size == array.size)
            yield name, Meaning(constants=same_size or layer.constants)


def _reading(name: str, readers: Mapping[str, list[Node]], layers: Mapping[str, Meaning]) -> Meaning | None:
    """The layers that read a constant, directly or through nodes that were computed in advance."""
    seen, values = {name}, [name]
    while values:
        nodes = [node for value in values for node in readers.get(value, ())]
        layer = _layers_of(nodes, layers)
        if layer is not None:
            return layer
        values = [value for node in nodes for value in node.outputs if value and value not in seen]
        seen.update(values)
    return None


def _layers_of(nodes: Iterable[Node], layers: Mapping[str, Meaning]) -> Meaning | None:
    known = [layers[name] for node in nodes for name in (node.name, *node.origin) if name in layers]
    if not known:
        return None
    total = Meaning()
    for meaning in known:
        total |= meaning
    return total
