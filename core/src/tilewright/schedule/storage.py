"""Knows how values share bytes: views inside other values, outputs in place of inputs, and the next value of a state
where its present value is, when nobody reads that any more; what is kept of a window moves on there. Where it cannot be
there, the program copies at its end.
Does not know addresses. Everything is relative to a root value, which gives its buffer its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.access.index_map import Access, MapAccess
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.graphs.operator import Alias, Operator, input_names
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound
from tilewright.ir.tensors.layout import same_bytes, strides


@dataclass(slots=True, kw_only=True)
class _Group:
    """The values in one buffer."""

    members: list[str]
    live: list[str]  # those that somebody may still need after the last step that was asked about
    given: bool  # a graph input is among them
    ends: bool  # a graph input or output is among them
    memories: frozenset[str]  # that members are pinned to


class Sharing:
    """Values inside values, grown alias by alias while one schedule is being made. However long a chain of aliases is,
    a question takes a few steps.
    """

    def __init__(
        self,
        graph: Graph,
        pins: Mapping[str, str] | None = None,
        aligns: Mapping[str, int] | None = None,
        grain: int = 1,
    ) -> None:
        self.graph = graph
        self._pins = pins or {}  # value -> memory: what is pinned apart shares no bytes
        self._aligns = aligns or {}  # value -> what its address is a multiple of
        self._grain = grain  # bytes of which copies move multiples
        self._inputs, self._outputs = frozenset(graph.inputs), frozenset(graph.outputs)
        self._places: dict[str, tuple[str, int]] = {}  # value -> (the value whose buffer it is in, byte offset there)
        self._groups: dict[str, _Group] = {}  # by the value that gives the buffer its name

    def untouched(self) -> Sharing:
        """The same values, none of them inside another."""
        return Sharing(self.graph, self._pins, self._aligns, self._grain)

    def root(self, value: str) -> tuple[str, int]:
        """The value that owns the buffer, and how far `value` is from its start, in bytes."""
        return self._places.get(value, (value, 0))

    def members(self, root: str) -> Sequence[str]:
        """Every value in the buffer of `root`, itself included."""
        return self._group(root).members

    def live(self, root: str, last_read: Mapping[str, int], step: int) -> Sequence[str]:
        """Members that are read after `step`, or are graph outputs. The next question is about a later step."""
        group = self._group(root)
        group.live = [name for name in group.live if last_read.get(name, -1) > step or name in self._outputs]
        return group.live

    def is_given(self, root: str) -> bool:
        """Whether a graph input is in the buffer of `root`."""
        return self._group(root).given

    def is_inside(self, value: str) -> bool:
        """Whether `value` is in the buffer of another."""
        return value in self._places

    def bytes_of(self, value: str) -> tuple[int, int]:
        """The half-open byte range of `value` in its root's buffer."""
        offset = self.root(value)[1]
        return offset, offset + self.graph.tensors[value].size_bytes

    def pinned_apart(self, left: str, right: str) -> bool:
        """Whether the buffers of two values hold values that are pinned to different memories."""
        return len(self._group(self.root(left)[0]).memories | self._group(self.root(right)[0]).memories) > 1

    def misaligned(self, value: str, of: str, offset_bytes: int = 0) -> bool:
        """Whether a value of the buffer that `value` owns would begin where its kernels cannot take it, or end where a
        copy cannot, if that were in the buffer of `of`, so many bytes behind where `of` begins.
        """
        home, start = self.root(of)
        start += offset_bytes
        return bool(self._aligns) and any(
            (start + self.root(name)[1]) % self._aligns.get(name, 1)
            or self._cramped(start + self.bytes_of(name)[1], home)
            for name in self.members(value)
        )

    def _cramped(self, end: int, home: str) -> bool:
        """Whether a copy to there would write over what follows: padding stands behind the last byte of a buffer."""
        return bool(end % self._grain) and end != self.bytes_of(home)[1]

    def align_of(self, root: str) -> int:
        """What the buffer of `root` has to begin at a multiple of, for the sake of all in it."""
        return max((self._aligns.get(name, 1) for name in self.members(root) if self._aligns), default=1)

    def add_all(self, aliases: tuple[Alias, ...]) -> bool:
        """Accept all aliases of one node, or none of them."""
        before = self._kept(aliases[1:] and aliases)  # one that is not accepted has changed nothing
        for alias in aliases:
            if not self._may_join(alias):
                self._restore(before)
                return False
            step = self.graph.tensors[alias.value].dtype.size_bytes
            self.join(alias.value, alias.of, alias.offset * step)
        return True

    def join(self, value: str, of: str, offset_bytes: int = 0) -> None:
        """Put the buffer that `value` owns into that of `of`, so many bytes behind where `of` begins."""
        home, start = self.root(of)
        mine, theirs = self._group(value), self._group(home)
        for name in mine.members:
            self._places[name] = (home, self.root(name)[1] + start + offset_bytes)
        theirs.members += mine.members
        theirs.live += mine.live
        theirs.given |= mine.given
        theirs.ends |= mine.ends
        theirs.memories |= mine.memories
        del self._groups[value]

    def _kept(self, aliases: tuple[Alias, ...]) -> dict[str, tuple[_Group, dict[str, int]]]:
        """The groups that these aliases touch, as they are: root -> the group, and where its members are in it."""
        roots = dict.fromkeys(self.root(name)[0] for alias in aliases for name in (alias.value, alias.of))
        kept = {}
        for root in roots:
            group = self._group(root)
            copy = replace(group, members=[*group.members], live=[*group.live])
            kept[root] = (copy, {name: self.root(name)[1] for name in group.members})
        return kept

    def _restore(self, kept: Mapping[str, tuple[_Group, dict[str, int]]]) -> None:
        for root, (group, offsets) in kept.items():
            self._groups[root] = group
            self._places.update({name: (root, offset) for name, offset in offsets.items()})
            self._places.pop(root, None)

    def _group(self, root: str) -> _Group:
        if root not in self._groups:
            self._groups[root] = _Group(
                members=[root],
                live=[root],
                given=root in self._inputs,
                ends=root in self._inputs or root in self._outputs,
                memories=frozenset({self._pins[root]} if root in self._pins else ()),
            )
        return self._groups[root]

    def _may_join(self, alias: Alias) -> bool:
        value, home, constants = alias.value, self.root(alias.of)[0], self.graph.constants
        if value in self._places or value in constants or alias.of in constants or value in self._inputs:
            return False
        step = self.graph.tensors[value].dtype.size_bytes
        if value == home or self.pinned_apart(value, home) or self.misaligned(value, alias.of, alias.offset * step):
            return False
        return not (self._group(value).ends and self._group(home).ends)


def view_aliases(node: Node, bound: Bound, operators: Mapping[str, Operator]) -> tuple[Alias, ...]:
    """What the operator offers for this node under the chosen layouts."""
    return operators[node.op].alias(bound.graph.site(node), bound.layouts)


def offered_pairs(node: Node, bound: Bound) -> tuple[tuple[str, str], ...]:
    """(input, output) operands of the node's kernel that may share bytes; where tiles are copied, only if a tile reads
    just what it writes.
    """
    layer = bound.layers[node.name]
    if not bound.platform.inner:
        return layer.in_place
    return tuple(pair for pair in layer.in_place if _element_by_element(layer.access, *pair))


def in_place_pair(
    node: Node,
    bound: Bound,
    operators: Mapping[str, Operator],
    sharing: Sharing,
    last_read: Mapping[str, int],
    step: int,
) -> tuple[str, str] | None:
    """An (input, output) pair of values of `node` that may use the same bytes at `step`, or None."""
    site, operator = bound.graph.site(node), operators[node.op]
    inputs = dict(
        zip(input_names(operator, site), (tensor.name if tensor else "" for tensor in site.inputs), strict=True)
    )
    outputs = dict(zip(operator.outputs, (tensor.name for tensor in site.outputs), strict=False))
    offered = offered_pairs(node, bound)
    for operand_in, operand_out in offered:
        source, target = inputs.get(operand_in, ""), outputs[operand_out]
        safe = [operand for operand, result in offered if result == operand_out]
        others = [(name, operand in safe) for operand, name in inputs.items() if name and operand != operand_in]
        if not source or any(_lost(name, source, sharing, alike=alike) for name, alike in others):
            continue
        if _may_overwrite(source, target, bound, sharing, last_read, step):
            return source, target
    return None


def _lost(other: str, source: str, sharing: Sharing, *, alike: bool) -> bool:
    """Whether an output over `source` takes bytes of the `other` input, which the kernel may be about to read. `alike`:
    it may be in place of that one, too, and then both may be the same bytes.
    """
    if sharing.root(other)[0] != sharing.root(source)[0]:
        return False
    span, taken = sharing.bytes_of(other), sharing.bytes_of(source)
    return span[0] < taken[1] and taken[0] < span[1] and not (alike and span == taken)


def _element_by_element(access: Access, operand_in: str, operand_out: str) -> bool:
    """Whether every tile reads of an input just what it writes of an output."""
    return not isinstance(access, MapAccess) or access.axes[operand_in] == access.axes[operand_out]


def _may_overwrite(
    source: str, target: str, bound: Bound, sharing: Sharing, last_read: Mapping[str, int], step: int
) -> bool:
    graph = bound.graph
    if source in graph.constants or sharing.is_inside(target) or sharing.pinned_apart(source, target):
        return False
    if sharing.misaligned(target, source):
        return False
    left, right = graph.tensors[source], graph.tensors[target]
    if left.size_bytes != right.size_bytes or left.shape != right.shape:
        return False
    if not same_bytes(left.shape, bound.layouts[source], bound.layouts[target]):
        return False
    root = sharing.root(source)[0]
    if sharing.is_given(root):
        return False
    low, high = sharing.bytes_of(source)
    spans = (sharing.bytes_of(name) for name in sharing.live(root, last_read, step))
    return not any(start < high and low < end for start, end in spans)


def join_states(
    executed: Sequence[Node], bound: Bound, operators: Mapping[str, Operator], sharing: Sharing, decisions: Decisions
) -> dict[str, str]:
    """Let outputs that become inputs of the next run share their bytes where that is sound: in-place pairs."""
    pairs: dict[str, str] = {}
    for present, following in decisions.state.items():
        pair = _joined(present, following, executed, bound, operators, sharing)
        if pair is None:
            continue
        source, target = pair
        if source and decisions.in_place.get(target, source) != source:
            continue
        sharing.join(sharing.root(following)[0], present)
        if source:
            pairs[target] = source
    return pairs


def _joined(
    present: str,
    following: str,
    executed: Sequence[Node],
    bound: Bound,
    operators: Mapping[str, Operator],
    sharing: Sharing,
) -> tuple[str, str] | None:
    """None where they may not share; else the in-place pair that it takes, or two empty names."""
    graph, (root, offset) = bound.graph, sharing.root(following)
    fixed = {*graph.inputs, *graph.outputs} - {following}
    whole = max(sharing.bytes_of(value)[1] for value in sharing.members(root))
    if offset or whole != graph.tensors[present].size_bytes or fixed.intersection(sharing.members(root)):
        return None
    if sharing.root(present) != (present, 0) or sharing.pinned_apart(present, following):
        return None
    old, new = set(sharing.members(present)), set(sharing.members(root))
    read = max((step for step, node in enumerate(executed) if old.intersection(node.inputs)), default=-1)
    written = min((step for step, node in enumerate(executed) if new.intersection((*node.inputs, *node.outputs))))
    if read < written:
        return "", ""
    return _pair(executed[read], old, new, bound, operators, sharing) if read == written else None


def _pair(
    node: Node, old: set[str], new: set[str], bound: Bound, operators: Mapping[str, Operator], sharing: Sharing
) -> tuple[str, str] | None:
    """The value and the output of one step that its kernel computes in place, all of the one over all of the other."""
    site, operator, tensors = bound.graph.site(node), operators[node.op], bound.graph.tensors
    inputs = dict(zip(input_names(operator, site), node.inputs, strict=True))
    outputs = dict(zip(operator.outputs, node.outputs, strict=False))
    if sum(name in old for name in node.inputs) > 1:
        return None
    for operand, result in offered_pairs(node, bound):
        source, target = inputs.get(operand, ""), outputs.get(result, "")
        if source not in old or target not in new or sharing.root(source)[1] or sharing.root(target)[1]:
            continue
        left, right = tensors[source], tensors[target]
        alike = left.shape == right.shape and left.size_bytes == right.size_bytes
        if alike and same_bytes(left.shape, bound.layouts[source], bound.layouts[target]):
            return source, target
    return _shifted(node, inputs, outputs, old, new, bound, sharing)


def _shifted(
    node: Node,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    old: set[str],
    new: set[str],
    bound: Bound,
    sharing: Sharing,
) -> tuple[str, str] | None:
    """The same of a kernel that writes what it reads nearer to the front, where one core does it, and all at once."""
    platform, graph = bound.platform, bound.graph
    if platform.inner or any(engine.cores > 1 for engine in platform.engines):
        return None
    for operand, result in bound.layers[node.name].shifts:
        source, target = inputs.get(operand, ""), outputs.get(result, "")
        if source not in old or target not in new or sharing.root(target)[1]:
            continue
        if _steps(graph.tensors[source], bound) == _steps(graph.tensors[target], bound, graph.tensors[source].shape):
            return source, target
    return None


def _steps(tensor: Tensor, bound: Bound, shape: tuple[int, ...] = ()) -> list[int]:
    """How far apart neighbours are, along the axes of `shape` that have some."""
    steps = strides(tensor.shape, bound.layouts[tensor.name])
    return [step for step, extent in zip(steps, shape or tensor.shape, strict=True) if extent > 1]
