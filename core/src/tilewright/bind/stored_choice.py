"""Knows in which form each node is computed: as kernels store values, where what that saves is more than conversions
take; elementwise nodes between in the same form, so that conversions vanish. Does not know the graph that follows
(`stored_graph`).

It begins with all nodes in forms that may be, and goes on as long as another form of one node, or none of all nodes
that hang together, takes less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

from tilewright.bind.stored_options import Fill, NodeForm, Options
from tilewright.errors import Refusal
from tilewright.ir.graphs.graph import Node
from tilewright.ir.tensors.stored_form import Form, Stored, StoredValue

_ROUNDS = 8  # at most: a few are enough for every network that was looked at
_SHORT = "memory is short: with values in forms of its own, no plan fits (TW5082)"
NodeForms = Mapping[str, NodeForm]  # by node; absent: as the network has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """What follows from the forms of all nodes: how values are written and read, and what that takes."""

    written: Mapping[str, Stored] = field(default_factory=dict)  # by value, of nodes in forms
    conversions: frozenset[tuple[str, Stored, str]] = frozenset()  # value, form, ToStored or FromStored
    fills: Mapping[str, tuple[Fill, ...]] = field(default_factory=dict)  # of elementwise nodes in forms, by node
    cycles: float = 0.0


class StoredChoice:
    """The forms of all nodes of a graph."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.refusals: dict[str, list[Refusal]] = {}
        self._forms: dict[str, list[Mapping[str, StoredValue]]] = {}
        for node in options.graph.nodes:
            forms, refusals = options.of_kernels(node)
            if forms:
                self._forms[node.name] = forms
            if refusals:
                self.refusals[node.name] = refusals
        self._must = {name for name, forms in self._forms.items() if options.must(self._nodes[name], forms)}

    @cached_property
    def _nodes(self) -> dict[str, Node]:
        return {node.name: node for node in self.options.graph.nodes}

    @cached_property
    def _elementwise(self) -> set[str]:
        others = (node for node in self.options.graph.nodes if node.name not in self._forms)
        return {node.name for node in others if self.options.elementwise(node)}

    def least(self) -> tuple[NodeForms, Flow]:
        """As few nodes in forms as may be, because memory is short."""
        for name in self._forms.keys() - self._must:
            self._say(name, _SHORT)
        node_forms = {name: self._forms[name][0] for name in self._must}
        return node_forms, self.flow(node_forms) if node_forms else Flow()

    def best(self) -> tuple[NodeForms, Flow]:
        """The forms that take least, as far as they are looked at."""
        if not self._forms:
            return {}, Flow()
        node_forms: dict[str, NodeForm] = {name: forms[0] for name, forms in self._forms.items()}
        self._spread(node_forms)
        best = self.flow(node_forms)
        for _ in range(_ROUNDS):
            before = best.cycles
            for changed in self._others(node_forms):
                flow = self.flow(changed)
                if flow.cycles < best.cycles:
                    node_forms, best = changed, flow
            if best.cycles == before:
                break
        for name in self._forms.keys() - node_forms.keys():
            self._refuse(name, best, node_forms)
        return node_forms, best

    def flow(self, node_forms: NodeForms) -> Flow:
        """What follows from these forms."""
        written: dict[str, Stored] = {}
        fills: dict[str, tuple[Fill, ...]] = {}
        conversions: set[tuple[str, Stored, str]] = set()
        cycles = 0.0
        for node in self.options.graph.nodes:
            node_form = node_forms.get(node.name)
            for value, wanted in self._read(node, node_form, written):
                conversions.update(_between(value, written.get(value), wanted))
            fills[node.name] = self._fills(node, node_form, written)
            written.update(self._writes(node, node_form, fills[node.name]))
            cycles += self.options.time(node, node_form, fills[node.name])
        for value in self.options.graph.outputs:
            conversions.update(_between(value, written.get(value), None))
        cycles += sum(self.options.conversion(*each) for each in conversions)
        return Flow(written=written, conversions=frozenset(conversions), fills=fills, cycles=cycles)

    def reads(self, node: Node, node_forms: NodeForms, flow: Flow) -> dict[str, Stored | None]:
        """How a node reads each of its values."""
        return dict(self._read(node, node_forms.get(node.name), flow.written))

    def _read(
        self, node: Node, node_form: NodeForm, written: Mapping[str, Stored]
    ) -> Iterator[tuple[str, Stored | None]]:
        graph, operator = self.options.graph, self.options.operators[node.op]
        for at, value in enumerate(node.inputs):
            if not value or value in graph.constants:
                continue
            if node_form is None:
                yield value, None
            elif isinstance(node_form, Mapping):
                named = node_form.get(operator.inputs[at]) if at < len(operator.inputs) else None
                yield value, named.stored if named else None
            else:
                yield value, Stored(form=node_form)

    def _fills(self, node: Node, node_form: NodeForm, written: Mapping[str, Stored]) -> tuple[Fill, ...]:
        """Of an elementwise node in a form: what is in the padding of each value that it reads."""
        if node_form is None or isinstance(node_form, Mapping):
            return ()
        values = [name for name in node.inputs if name and name not in self.options.graph.constants]
        return tuple(written[name].fill if _has(name, node_form, written) else 0 for name in values)

    def _writes(self, node: Node, node_form: NodeForm, fills: tuple[Fill, ...]) -> dict[str, Stored]:
        if node_form is None:
            return {}
        if not isinstance(node_form, Mapping):
            elementwise = self.options.in_form(node, node_form, fills)
            return {node.outputs[0]: elementwise.output} if elementwise else {}
        outputs = zip(self.options.operators[node.op].outputs, node.outputs, strict=False)
        return {name: node_form[operand].stored for operand, name in outputs if operand in node_form}

    def _spread(self, node_forms: dict[str, NodeForm]) -> None:
        """Give elementwise nodes the form of what they read."""
        written: dict[str, Stored] = {}
        for node in self.options.graph.nodes:
            forms = [written[name].form for name in node.inputs if name in written]
            if node.name in self._elementwise and forms and self._takes(node, forms[0], written):
                node_forms[node.name] = forms[0]
            node_form = node_forms.get(node.name)
            written.update(self._writes(node, node_form, self._fills(node, node_form, written)))

    def _takes(self, node: Node, form: Form, written: Mapping[str, Stored]) -> bool:
        return self.options.in_form(node, form, self._fills(node, form, written)) is not None

    def _others(self, node_forms: NodeForms) -> Iterator[dict[str, NodeForm]]:
        """One node otherwise; all that hang together as the network has them."""
        every: dict[str, Sequence[NodeForm]] = {
            name: [*forms, *([] if name in self._must else [None])] for name, forms in self._forms.items()
        }
        flow = self.flow(node_forms)
        for name in self._elementwise:
            near = {
                form
                for form in self._near(self._nodes[name], flow, node_forms)
                if self._takes(self._nodes[name], form, flow.written)
            }
            if near or name in node_forms:
                every[name] = [*sorted(near, key=str), None]
        for name in [name for name in self._nodes if name in every]:
            for node_form in every[name]:
                if node_form != node_forms.get(name):
                    yield _with(node_forms, {name: node_form})
        for together in self._together(node_forms):
            if not together & self._must:
                yield _with(node_forms, dict.fromkeys(together))

    def _near(self, node: Node, flow: Flow, node_forms: NodeForms) -> Iterator[Form]:
        """The forms of what a node reads, and those in which what it writes is read."""
        yield from (flow.written[name].form for name in node.inputs if name in flow.written)
        for reader in self.options.graph.consumers()[node.outputs[0]]:
            wanted = dict(self._read(reader, node_forms.get(reader.name), flow.written)).get(node.outputs[0])
            if wanted is not None:
                yield wanted.form

    def _together(self, node_forms: NodeForms) -> list[set[str]]:
        """Nodes in forms that hang together by what they read and write."""
        groups: list[tuple[set[str], set[str]]] = []
        for name in node_forms:
            node = self._nodes[name]
            names, values = {name}, {*node.inputs, *node.outputs} - {""} - self.options.graph.constants.keys()
            for group in [each for each in groups if each[1] & values]:
                groups.remove(group)
                names, values = names | group[0], values | group[1]
            groups.append((names, values))
        return [names for names, _ in groups]

    def _refuse(self, name: str, best: Flow, node_forms: NodeForms) -> None:
        """Say why no kernel of values in forms computes a node."""
        forms = self._forms[name][0]
        more = self.flow(_with(node_forms, {name: forms})).cycles - best.cycles
        said = (
            "it is faster as the network has it"
            if more == inf
            else f"with conversions {more:,.0f} cycles more (estimate)"
        )
        operands = ", ".join(f"{operand} in {value.stored.form}" for operand, value in forms.items())
        self._say(name, f"stores {operands}; {said}")

    def _say(self, name: str, reason: str) -> None:
        """To all kernels of values in forms that have not refused a node themselves."""
        kernels = {kernel.name for kernel in self.options.kernels if kernel.of.name == self._nodes[name].op}
        refusals = self.refusals.setdefault(name, [])
        known = {refusal.candidate for refusal in refusals}
        refusals.extend(Refusal(candidate=kernel, reason=reason) for kernel in sorted(kernels - known))


def _has(value: str, form: Form, written: Mapping[str, Stored]) -> bool:
    return value in written and written[value].form == form


def _between(value: str, written: Stored | None, wanted: Stored | None) -> Iterator[tuple[str, Stored, str]]:
    """The conversions between how a value is written and how it is read."""
    if written is not None and (wanted is None or not written.serves(wanted)):
        yield value, written, "FromStored"
    if wanted is not None and (written is None or not written.serves(wanted)):
        yield value, made(wanted), "ToStored"


def made(wanted: Stored) -> Stored:
    """What a conversion makes for who reads this: padding is 0 where it may be anything."""
    return replace(wanted, fill=0) if wanted.fill is None else wanted


def _with(node_forms: NodeForms, changes: Mapping[str, NodeForm]) -> dict[str, NodeForm]:
    return {name: node_form for name, node_form in {**node_forms, **changes}.items() if node_form is not None}
