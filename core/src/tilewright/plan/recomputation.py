"""Knows which cheap values are worth computing a second time in one order of the nodes: what a step without
multiply-accumulates writes, where its bytes are free between two readers and its inputs are there, or take less. Known
as rematerialisation. Does not know other orders, nor when that is asked for (`recompute_choice`).

At the step with most bytes alive the value is taken whose absence saves most; then the same again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tilewright.bind.recompute import computed_again, first_name
from tilewright.ir.graphs.graph import Node
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.decisions import Recomputation
from tilewright.ir.plans.stages import Bound
from tilewright.plan.proposals.step_orders import StepOrders
from tilewright.schedule.order_task import OrderTask, Pieces, members

_MOST_VALUES = 64  # values that are computed again
_WORTH_A_STEP = 16  # inputs are computed again, too, where that saves more than this part of what is computed again
_PORTS = ("Arrival", "Departure")  # what passes there passes once


@dataclass(frozen=True, slots=True, kw_only=True)
class _Again:
    """A value that is computed once more: what that keeps alive, takes, and what else is computed for it."""

    value: str
    held_bytes: int  # of inputs that would be dead
    cycles: float
    inputs: tuple[_Again, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reads:
    """Who reads a value later."""

    value: str
    of: str  # the value that it is a view of; "" where it is none
    readers: tuple[str, ...]  # nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """The bytes of a piece are free between two steps that touch it."""

    again: _Again  # the value that is written into it
    reads: tuple[_Reads, ...]  # of its views that are computed again with it, the last first; then of the value
    saved_bytes: int


def recomputations(
    bound: Bound,
    orders: StepOrders,
    operators: Mapping[str, Operator],
    most_cycles: float,
    never: Collection[str] = (),
) -> tuple[tuple[Recomputation, ...], int]:
    """What to compute again for at most so many cycles, and how many bytes fewer are then alive at once in the order of
    `bound`; (), 0 where nothing is gained. Values in `never` are not computed again.
    """
    if not is_any_read_twice(bound, operators):
        return (), 0
    wanted, left = tuple[Recomputation, ...](), most_cycles
    peaks: list[tuple[int, tuple[Recomputation, ...]]] = []
    while len(wanted) <= _MOST_VALUES:
        moment = _Moment(bound, orders.task(bound), orders.pieces(bound), operators, never)
        peaks.append((moment.peak_bytes, wanted))
        cut = max((candidate for candidate in moment.cuts() if candidate.again.cycles <= left), key=_gain, default=None)
        if cut is None:
            break
        bound, more = _cut(bound, cut)
        wanted, left = (*wanted, *more), left - cut.again.cycles
    least, best = min(peaks, key=lambda peak: peak[0])  # of equals what computes least again
    return best, peaks[0][0] - least


def _gain(cut: _Cut) -> tuple[int, float]:
    return cut.saved_bytes, -cut.again.cycles


def _cut(bound: Bound, cut: _Cut) -> tuple[Bound, tuple[Recomputation, ...]]:
    """The binding with the value of a piece computed again for those who read it later, and what says so."""
    wanted = list[Recomputation]()
    copied = dict[str, list[str]]()  # value -> copies of nodes that read it

    def add(value: str, readers: Sequence[str]) -> str:
        nonlocal bound
        wanted.append(Recomputation(value=value, readers=tuple(readers)))
        bound, node = computed_again(bound, wanted[-1])
        return node

    def add_inputs(again: _Again, reader: str) -> None:
        for needed in again.inputs:
            add_inputs(needed, add(needed.value, (reader,)))

    for reads in cut.reads:
        node = add(reads.value, (*reads.readers, *copied.get(reads.value, ())))
        copied.setdefault(reads.of, []).append(node)
    add_inputs(cut.again, copied[""][0])
    return bound, tuple(wanted)


def is_any_read_twice(bound: Bound, operators: Mapping[str, Operator]) -> bool:
    """Whether there is a cheap value that is read twice, or a view of one."""
    consumers = bound.graph.consumers()
    return any(is_cheap(node, bound, operators) and len(consumers[node.outputs[0]]) > 1 for node in bound.graph.nodes)


def is_cheap(node: Node, bound: Bound, operators: Mapping[str, Operator]) -> bool:
    """Whether a node writes one value without multiply-accumulates, and not what passes the border in rows."""
    single = len(node.outputs) == 1 and node.op not in _PORTS
    return single and not operators[node.op].macs(bound.graph.site(node))


class _Moment:
    """The step of an order at which most bytes are alive."""

    def __init__(
        self,
        bound: Bound,
        task: OrderTask,
        pieces: Pieces,
        operators: Mapping[str, Operator],
        never: Collection[str],
    ) -> None:
        self.bound, self.task, self.pieces, self.operators, self.never = bound, task, pieces, operators, never
        alive, done = task.alive_at_start, 0
        during: list[int] = []
        for node in range(len(task.nodes)):
            most, alive = task.run(node, done, alive)
            done |= 1 << node
            during.append(most)
        self.peak_bytes = max(during)
        self.step = during.index(self.peak_bytes)

    def cuts(self) -> Iterator[_Cut]:
        """Every piece that is alive at the step but not touched, and could be computed again for less."""
        for piece, nodes in enumerate(self.task.touched_by):
            after = [node for node in reversed(members(nodes)) if node > self.step]
            free = after and self._alive(piece) and not nodes >> self.step & 1
            value = self._written(piece) if free and piece not in self.task.to_end else ""
            again = self._again(value, self.task.sizes[piece] // _WORTH_A_STEP) if value else None
            reads = self._reads(value, after) if again else ()
            saved = self.task.sizes[piece] - again.held_bytes if again else 0
            if again and reads and saved > 0:
                yield _Cut(again=again, reads=reads, saved_bytes=saved)

    def _alive(self, piece: int) -> bool:
        """At the step, from a step before it to one after it."""
        nodes = self.task.touched_by[piece]
        early = piece in self.task.from_start or nodes & ((1 << self.step) - 1)
        return bool(early) and (piece in self.task.to_end or bool(nodes >> self.step))

    def _written(self, piece: int) -> str:
        """The value of a piece that a step writes, the others being its views; "" where that is not so."""
        result = [value for value in self._values[piece] if self._writer.get(value) not in self.pieces.views]
        return result[0] if len(result) == 1 and result[0] in self._writer else ""

    def _again(self, value: str, worth_bytes: int) -> _Again | None:
        """How a value is computed once more after the step; None where that is not cheap. Its inputs are, too, where
        that saves more than `worth_bytes` of them.
        """
        node = self._nodes.get(self._writer.get(value, ""))
        if node is None or first_name(value) in self.never or not is_cheap(node, self.bound, self.operators):
            return None
        held, cycles, inputs = 0, self._cycles(node.name), list[_Again]()
        for read in dict.fromkeys(name for name in node.inputs if name and name in self.pieces.of):
            piece = self.pieces.of[read]
            size = 0 if self._alive(piece) else self.task.sizes[piece]
            deeper = self._again(read, worth_bytes) if size else None
            if deeper is not None and size - deeper.held_bytes > worth_bytes:
                inputs.append(deeper)
                size, cycles = deeper.held_bytes, cycles + deeper.cycles
            held += size
        return _Again(value=value, held_bytes=held, cycles=cycles, inputs=tuple(inputs))

    def _reads(self, value: str, after: Sequence[int]) -> tuple[_Reads, ...]:
        """Who reads the value of a piece, and its views, in these steps. () where nobody would read it the first time,
        or a view shows more than one value.
        """
        steps = {self.task.nodes[node] for node in after}
        result, needed = list[_Reads](), set[str]()
        for name in reversed(self._values[self.pieces.of[value]]):
            readers = self._consumers[name]
            later = tuple(node.name for node in readers if node.name in steps)
            shown = ("",) if name == value else self._shown(name)
            if len(shown) != 1:
                return ()
            if name != value and len(later) == len(readers) and not {name} & {*needed, *self.bound.graph.outputs}:
                steps.add(self._writer[name])  # the view itself is made later
            elif later or name in needed:
                needed.add(shown[0])
                result.append(_Reads(value=name, of=shown[0], readers=later))
        first = result and result[-1].value == value and len(result[-1].readers) < len(self._consumers[value])
        return tuple(result) if first else ()

    def _shown(self, view: str) -> tuple[str, ...]:
        """The values of the same piece that a view shows."""
        read = self._nodes[self._writer[view]].inputs
        return tuple(name for name in dict.fromkeys(read) if self.pieces.of.get(name) == self.pieces.of[view])

    def _cycles(self, node: str) -> float:
        """An estimate; views take none."""
        binding = self.bound.bindings[node]
        kernel = next(candidate for candidate in binding.candidates if candidate.kernel.name == binding.kernel.name)
        return 0.0 if node in self.pieces.views else kernel.cycles

    @cached_property
    def _nodes(self) -> dict[str, Node]:
        return {node.name: node for node in self.bound.graph.nodes}

    @cached_property
    def _writer(self) -> dict[str, str]:
        """Value -> node."""
        return {value: node.name for value, node in self.bound.graph.producer().items()}

    @cached_property
    def _consumers(self) -> dict[str, list[Node]]:
        return self.bound.graph.consumers()

    @cached_property
    def _values(self) -> list[list[str]]:
        """By piece, in the order in which they are written."""
        result: list[list[str]] = [[] for _ in self.pieces.sizes]
        place = {value: at for at, value in enumerate(self._writer)}
        for value in sorted(self.pieces.of, key=lambda piece: place.get(piece, -1)):
            result[self.pieces.of[value]].append(value)
        return result
