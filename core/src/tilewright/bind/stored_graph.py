"""Knows the graph in which values are stored as kernels want them: nodes on values in forms, and conversions where a
form begins or ends. Does not know why a node is in a form (`stored_choice`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tilewright.bind.candidates import GraphForKernels, NodeCandidates
from tilewright.bind.stored_choice import Flow, NodeForms, StoredChoice, made
from tilewright.bind.stored_options import Options, conversion_site
from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Graph, Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.graphs.stored_sites import stored_tensor, stored_values
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stored_kernel import StoredKernel, stored_node
from tilewright.ir.tensors.stored_form import Stored, StoredValue


def with_forms(
    graph: Graph,
    kernels: Mapping[str, Kernel],
    platform: Platform,
    operators: Mapping[str, Operator],
    decisions: Decisions,
    candidates_of: Callable[[Site], NodeCandidates],
    *,
    fit: bool = True,
) -> GraphForKernels:
    """Store values as kernels want them where that takes less, conversions included; where no plan would `fit`, only
    where nobody else computes a node.
    """
    offered = [each for each in kernels.values() if isinstance(each, StoredKernel) and platform.runs(each.target)]
    if not offered:
        return GraphForKernels(graph=graph)
    options = Options(
        graph=graph,
        kernels=sorted(offered, key=lambda kernel: kernel.name),
        platform=platform,
        operators=operators,
        decisions=decisions,
        candidates_of=candidates_of,
    )
    choice = StoredChoice(options)
    node_forms, flow = choice.best() if fit else choice.least()
    refusals = {name: tuple(refused) for name, refused in choice.refusals.items()}
    return GraphForKernels(graph=_Drawing(choice, node_forms, flow).graph() if node_forms else graph, refusals=refusals)


def padding_notes(graph: Graph, operators: Mapping[str, Operator]) -> Iterator[Diagnostic]:
    """The note TW5081, of values in forms: what padding takes, and how often values are converted."""
    stored = stored_values(graph, operators)
    if not stored:
        return
    padding = sum(graph.tensors[name].size_bytes - _plain(graph.tensors[name], value) for name, value in stored.items())
    forms = ", ".join(dict.fromkeys(str(value.stored.form) for value in stored.values()))
    converted = sum(node.op in ("ToStored", "FromStored") for node in graph.nodes)
    values = "1 value has" if len(stored) == 1 else f"{len(stored)} values have"
    yield Diagnostic(
        code="TW5081",
        severity="note",
        message=f"{values} {forms}: {padding:,} B of padding in all, {converted} conversions",
    )


def _plain(tensor: Tensor, value: StoredValue) -> int:
    return replace(tensor, shape=value.shape).size_bytes


class _Drawing:
    """Nodes in order, conversions before the first node that reads them."""

    def __init__(self, choice: StoredChoice, node_forms: NodeForms, flow: Flow) -> None:
        self._choice, self._node_forms, self._flow = choice, node_forms, flow
        self._old = choice.options.graph
        self._nodes: list[Node] = []
        self._tensors, self._constants = dict(self._old.tensors), dict(self._old.constants)
        self._held: dict[tuple[str, Stored | None], str] = {}  # value and form -> name

    def graph(self) -> Graph:
        """All of it."""
        for node in self._old.nodes:
            self._add(node)
        for name in self._old.outputs:
            self._name(name, None)
        return self._old.with_nodes(tuple(self._nodes), tensors=self._tensors, constants=self._constants)

    def _add(self, node: Node) -> None:
        node_form, options = self._node_forms.get(node.name), self._choice.options
        reads = self._choice.reads(node, self._node_forms, self._flow)
        inputs = tuple(self._name(name, reads[name]) if name in reads else name for name in node.inputs)
        drawn = replace(node, inputs=inputs)
        if isinstance(node_form, Mapping):
            drawn = stored_node(drawn, node_form)
        elif node_form is not None:
            elementwise = options.in_form(node, node_form, self._flow.fills[node.name])
            assert elementwise is not None, "it was asked before"
            drawn = self._in_form(node, inputs, elementwise.site)
        outputs = tuple(self._written(name) for name in node.outputs)
        self._nodes.append(replace(drawn, outputs=outputs))

    def _in_form(self, node: Node, inputs: Sequence[str], site: Site) -> Node:
        """An elementwise node in a form, with the constants that it has there."""
        old = self._old.constants
        self._constants.update(site.constants)
        self._tensors.update({each.name: each for each in site.inputs if each and each.name in site.constants})
        names = zip(node.inputs, inputs, site.node.inputs, strict=True)
        return replace(site.node, inputs=tuple(own if name in old else drawn for name, drawn, own in names))

    def _written(self, value: str) -> str:
        """The name of what a node writes."""
        stored = self._flow.written.get(value)
        return self._new(value, stored) if stored is not None else value

    def _new(self, value: str, stored: Stored) -> str:
        """A name for a value in a form."""
        name = f"{value}:{stored.form.short}"
        if name in self._tensors:
            name = f"{name}={stored.fill}"
        self._tensors[name] = stored_tensor(self._old.tensors[value], self._as(value, stored), name)
        self._held[value, stored] = name
        return name

    def _name(self, value: str, wanted: Stored | None) -> str:
        """The name of a value as it is to be read, converted where it is not so yet."""
        written = self._flow.written.get(value)
        if wanted is None:
            if written is not None and (value, None) not in self._held:
                self._convert(value, written, "FromStored", self._held[value, written])
                self._held[value, None] = value
            return value
        if written is not None and written.serves(wanted):
            return self._held[value, written]
        if (value, made(wanted)) not in self._held:
            self._name(value, None)
            self._convert(value, made(wanted), "ToStored", self._new(value, made(wanted)))
        return self._held[value, made(wanted)]

    def _convert(self, value: str, stored: Stored, op: str, name: str) -> None:
        self._nodes.append(conversion_site(self._old.tensors[value], self._as(value, stored), op, name).node)

    def _as(self, value: str, stored: Stored) -> StoredValue:
        return StoredValue(stored=stored, shape=self._old.tensors[value].shape)
