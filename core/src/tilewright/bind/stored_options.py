"""Knows in which forms each node of a graph may be computed: as the network has it, on values as a kernel stores them,
element by element in any form; and what each takes. Does not know which is chosen (`stored_choice`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from tilewright.bind.candidates import NodeCandidates, engine_of
from tilewright.bind.stored_elementwise import Elementwise, in_form, is_elementwise
from tilewright.errors import Refusal
from tilewright.ir.graphs.graph import Graph, Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.graphs.stored_sites import stored_attributes, stored_tensor
from tilewright.ir.machines.kernel import Matched
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stored_kernel import StoredKernel, stored_forms, stored_site
from tilewright.ir.tensors.stored_form import Form, Stored, StoredValue

Fill = int | float | None
NodeForm = Mapping[str, StoredValue] | Form | None  # forms by operand; a form of all; as the network has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Asked about the nodes of one graph; every answer is worked out once."""

    graph: Graph
    kernels: Sequence[StoredKernel]
    platform: Platform
    operators: Mapping[str, Operator]
    decisions: Decisions
    candidates_of: Callable[[Site], NodeCandidates]
    known: dict[Hashable, float] = field(default_factory=dict)
    made: dict[Hashable, Elementwise | None] = field(default_factory=dict)

    def of_kernels(self, node: Node) -> tuple[list[Mapping[str, StoredValue]], list[Refusal]]:
        """The forms in which kernels compute a node, fastest first, and why others do not."""
        site, operator = self.graph.site(node), self.operators[node.op]
        forms: list[Mapping[str, StoredValue]] = []
        refusals = []
        for kernel in self.kernels:
            if kernel.of.name != node.op or node.links:
                continue
            answer = self._decided(kernel, node) or kernel.base.match(site)
            if isinstance(answer, str) or answer is False:
                refusals.append(Refusal(candidate=kernel.name, reason=str(answer)))
                continue
            stored = stored_forms(kernel.base, operator, Matched.of(site, answer))
            forms += [stored] if stored and stored not in forms else []
        able = []
        for operand_forms in forms:
            candidates = self.candidates_of(stored_site(site, operator, operand_forms))
            refusals += [] if candidates.layers else candidates.refusals
            able += [operand_forms] if candidates.layers else []
        return sorted(able, key=lambda operand_forms: self.time(node, operand_forms)), refusals

    def must(self, node: Node, forms: Sequence[Mapping[str, StoredValue]]) -> bool:
        """Whether only a kernel of values in forms may compute a node: nobody else does, it is pinned, or its engine is
        preferred.
        """
        pinned = self.decisions.kernels.get(node.name)
        if pinned:
            return pinned in {kernel.name for kernel in self.kernels}
        plain = self.candidates_of(self.graph.site(node))
        return not plain.layers or (not self._preferred(plain) and self._preferred(self._of(node, forms[0])))

    def elementwise(self, node: Node) -> bool:
        """Whether a node may be computed in any form."""
        if any(self._names(name) for name in (*node.inputs, *node.outputs)):
            return False
        return is_elementwise(self.graph.site(node), self.operators[node.op])

    def in_form(self, node: Node, form: Form, fills: tuple[Fill, ...]) -> Elementwise | None:
        """An elementwise node in a form; None where it cannot be."""
        key = (node.name, form, fills)
        if key not in self.made:
            answer = in_form(self.graph.site(node), self.operators[node.op], form, fills)
            names = {layer.kernel.name for layer in self.candidates_of(answer.site).layers} if answer else set()
            pinned = self.decisions.kernels.get(node.name)
            self.made[key] = answer if (pinned in names if pinned else names) else None
        return self.made[key]

    def time(self, node: Node, node_form: NodeForm, fills: tuple[Fill, ...] = ()) -> float:
        """Of all cores, by the kernel that is chosen. Infinite where there is none."""
        key = (node.name, tuple(node_form.items()) if isinstance(node_form, Mapping) else node_form)
        if key not in self.known:
            self.known[key] = self._time(self._of(node, node_form, fills))
        return self.known[key]

    def conversion(self, value: str, stored: Stored, op: str) -> float:
        """Of a value into a form, or out of it."""
        key = (value, stored, op)
        if key not in self.known:
            site = conversion_site(self.graph.tensors[value], StoredValue(stored=stored, shape=self.shape(value)), op)
            self.known[key] = self._time(self.candidates_of(site))
        return self.known[key]

    def shape(self, value: str) -> tuple[int, ...]:
        """As the network has it."""
        return self.graph.tensors[value].shape

    def _of(self, node: Node, node_form: NodeForm, fills: tuple[Fill, ...] = ()) -> NodeCandidates:
        site = self.graph.site(node)
        if node_form is None:
            return self.candidates_of(site)
        if isinstance(node_form, Mapping):
            return self.candidates_of(stored_site(site, self.operators[node.op], node_form))
        elementwise = self.in_form(node, node_form, fills)
        nobody = NodeCandidates(candidates=(), layers=(), refusals=())
        return self.candidates_of(elementwise.site) if elementwise else nobody

    def _time(self, candidates: NodeCandidates) -> float:
        if not candidates.candidates:
            return inf
        best = candidates.candidates[0]
        return best.cycles / engine_of(best.kernel, self.platform).cores

    def _preferred(self, candidates: NodeCandidates) -> bool:
        return bool(candidates.layers) and engine_of(candidates.layers[0].kernel, self.platform).preferred

    def _decided(self, kernel: StoredKernel, node: Node) -> str:
        """What the user has decided against it."""
        pinned, engine = self.decisions.kernels.get(node.name), self.decisions.engines.get(node.name)
        if pinned and pinned != kernel.name:
            return f"'{pinned}' is pinned instead"
        if engine and kernel.engine not in ("", engine):
            return f"engine '{engine}' is pinned"
        if pinned:
            return ""
        named = next((name for name in (*node.inputs, *node.outputs) if self._names(name)), "")
        return f"a layout or memory is pinned for '{named}', which it would store in a form of its own" if named else ""

    def _names(self, value: str) -> bool:
        """Whether something is decided about a value as the network has it, and not about its forms."""
        decisions = self.decisions
        names = {*decisions.layouts, *decisions.memories, *decisions.in_place}
        return value in names and not any(name.startswith(f"{value}:") for name in names)


def conversion_site(tensor: Tensor, value: StoredValue, op: str, name: str = "") -> Site:
    """A node that brings `tensor` into a form (`ToStored`) or out of it (`FromStored`); `name` is what is stored."""
    stored = stored_tensor(tensor, value, name or f"{tensor.name}:{value.stored.form.short}")
    source, target, operand = (tensor, stored, "Y") if op == "ToStored" else (stored, tensor, "X")
    node = Node(
        name=f"{stored.name}:{'to' if op == 'ToStored' else 'from'}",  # of the form: a value may be wanted in two
        op=op,
        inputs=(source.name,),
        outputs=(target.name,),
        attributes=stored_attributes({operand: value}),
    )
    return Site(node=node, inputs=(source,), outputs=(target,), constants={})
