"""Knows an order of steps that rows can pass through: what a chain of them reads whole is there before it begins.
Does not know what any order takes: candidates by rows are looked for in it as in others.

An order that keeps the fewest bytes alive layer by layer may put a step between two that rows could pass: keys between
queries and their products, say. Then all queries are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tilewright.ir.plans.stages import Scheduled
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import RowRead


def order_for_rows(steps: LineBufferAnalysis) -> tuple[str, ...]:
    """The steps in an order in which each chain stands together. A chain is as long as each of its steps reads rows of
    the one before, and nobody else reads that.
    """
    writers = _Writers(steps)
    names, met, waiting = steps.machine.scheduled.steps, dict[int, None](), [*range(len(writers.reads))]
    while waiting:
        last = waiting[-1]
        chain = [] if last in met else writers.chain(last)
        before = [step for member in chain for step in writers.reads[member] if step not in met and step not in chain]
        if before:
            waiting.extend(reversed(before))
            continue
        waiting.pop()
        met.update(dict.fromkeys(chain))
    return tuple(names[step].name for step in met)


class _Writers:
    """Which steps write what each step reads, and which of these it reads row by row."""

    def __init__(self, steps: LineBufferAnalysis) -> None:
        self.of: dict[str, tuple[int, ...]] = {}  # value -> who writes it, or what it is a view of
        for node in steps.machine.bound.graph.nodes:
            number = steps.machine.numbers.get(node.name)
            writers = tuple(dict.fromkeys(self._all_of(node.inputs))) if number is None else (number,)
            self.of.update(dict.fromkeys(node.outputs, writers))
        looked = [steps.at(number) for number in range(len(steps.machine.scheduled.steps))]
        self.reads = [list(dict.fromkeys(self._all_of(read.value for read in writer.reads))) for writer in looked]
        readers = Counter(step for read in self.reads for step in read)
        kept = set(self._all_of(steps.machine.bound.graph.outputs))
        alone = {step for step, count in readers.items() if count == 1} - kept
        passed = [() if step.cannot else (self._passed(read) for read in step.reads) for step in looked]
        self.before = [next((step for step in writers if step in alone), None) for writers in passed]

    def chain(self, last: int) -> Sequence[int]:
        """The steps that end with this one, the first one first."""
        result, step = [last], self.before[last]
        while step is not None:
            result.append(step)
            step = self.before[step]
        return result[::-1]

    def _passed(self, read: RowRead) -> int | None:
        """The only step that writes what is read by rows; None where there is none, or it is not read so."""
        writers = self.of.get(read.value, ()) if _by_rows(read) else ()
        return writers[0] if len(writers) == 1 else None

    def _all_of(self, values: Iterable[str]) -> Iterator[int]:
        return (step for value in values for step in self.of.get(value, ()))


def _by_rows(read: RowRead) -> bool:
    """Whether a step can begin before all of an operand is there."""
    return len(read.high) > 1 and read.high[0] < read.high[-1]


def with_views(scheduled: Scheduled, steps: Sequence[str]) -> Iterator[str]:
    """All nodes in the order of these steps; what is a view as soon as what it shows is there."""
    graph = scheduled.bound.graph
    nodes = {node.name: node for node in graph.nodes}
    views = {node.name: node for node in graph.nodes if node.name not in set(steps)}
    known = {"", *graph.inputs, *graph.constants}
    for name in ("", *steps):
        if name:
            yield name
            known.update(nodes[name].outputs)
        for node in list(views.values()):  # in topological order: once through is enough
            if known.issuperset(node.inputs):
                del views[node.name]
                yield node.name
                known.update(node.outputs)
