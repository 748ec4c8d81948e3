"""Knows what a call computes and keeps, for given choices: needs followed from the outputs back, and what they cost.
Does not know how choices are made (`choose`), nor how the network is rewritten.

Of a value the elements that anything needs are joined to runs. The part of a run that the call before has is kept: the
state holds it from call to call; where phases take turns, of as many calls as they are. The rest, at its end and where
padding reaches, is computed. Two runs that are joined keep what lies between them; two that are not compute their
newest elements each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from tilewright.ir.graphs.graph import Graph, Node, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.rewrite.slide.clones import reads_of
from tilewright.rewrite.slide.intervals import Interval, joined, size, without
from tilewright.rewrite.slide.reuse import Reuse, TimeAxis
from tilewright.rewrite.slide.running_sums import RunningSum, running_sum

EVERY_GAP = 2**62
MOVES = frozenset({"Concat", "Pad", "Reshape", "Slice", "Transpose"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """By value the largest gap between runs that is kept (-1: nothing is), and the nodes that are no running sums."""

    gaps: Mapping[str, int] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()

    def gap(self, value: str) -> int:
        """Of one value; where nothing is chosen every gap is kept."""
        return self.gaps.get(value, EVERY_GAP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Elements `interval` of a value: those of `kept` are state, those of `computed` are made in the call."""

    interval: Interval
    kept: Interval
    computed: tuple[Interval, ...]

    @property
    def keeps(self) -> int:
        """How many elements of the axis are state."""
        return max(0, self.kept[1] - self.kept[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPlan:
    """The runs of every value with a time axis that is needed, and the nodes that are running sums."""

    runs: Mapping[str, tuple[Run, ...]]
    sums: Mapping[str, RunningSum]
    products: int  # multiply-accumulates of a call
    work: int  # trips of all loops of nodes that compute: products, additions, comparisons
    state_bytes: int
    gaps: Mapping[str, tuple[int, ...]]  # by value the sizes of what lies between its needs


@dataclass(frozen=True, slots=False, kw_only=True)  # slots=False: for cached properties
class Streamer:
    """A graph, its reuse, and what its nodes cost, each worked out once."""

    graph: Graph
    operators: Mapping[str, Operator]
    sliding: str
    reuse: Reuse

    def plan(self, choices: Choices) -> StreamPlan:
        """What is computed and kept with these choices."""
        needs: dict[str, list[Interval]] = {name: [] for name in self.reuse.axes}
        for name in self.graph.outputs:
            if name in needs:
                needs[name].append((0, self.reuse.axes[name].length))
        runs: dict[str, tuple[Run, ...]] = {}
        products = work = kept_bytes = 0
        sums = {name: candidate for name, candidate in self._sums.items() if name not in choices.whole}
        for node in reversed(self.graph.nodes):
            name, (macs, trips) = node.outputs[0], self._costs[node.name]
            if node.name in sums:
                self._need_of_sum(sums[node.name], needs)
                kept_bytes += sums[node.name].state_bytes
                continue
            if node.name not in self.reuse.readings:
                self._need_whole(node, needs)
                products, work = products + macs, work + trips
                continue
            axis = self.reuse.axes[name]
            runs[name] = _runs(needs[name], axis, choices.gap(name))
            computed = joined(part for run in runs[name] for part in run.computed)
            self._need(node, (part for run in runs[name] for part in run.computed), needs)
            products += macs * size(computed) // axis.length
            work += trips * size(computed) // axis.length
            kept_bytes += axis.lag * self._bytes(name) * sum(run.keeps for run in runs[name])
        runs[self.sliding] = self._given(needs[self.sliding])
        kept_bytes += self._bytes(self.sliding) * runs[self.sliding][0].keeps
        gaps = {name: _gaps(needs[name]) for name in runs}
        return StreamPlan(runs=runs, sums=sums, products=products, work=work, state_bytes=kept_bytes, gaps=gaps)

    @cached_property
    def least(self) -> StreamPlan:
        """The plan that computes the least: it keeps all that the call before has."""
        return self.plan(Choices())

    @property
    def whole_products(self) -> int:
        """Of the network that is called with whole windows."""
        return sum(macs for macs, _ in self._costs.values())

    def _need(self, node: Node, parts: Iterable[Interval], needs: Mapping[str, list[Interval]]) -> None:
        for part in parts:
            for at, reading in self.reuse.readings[node.name].items():
                source = node.inputs[at]
                needs[source].append(reads_of(reading, self.reuse.axes[source].length, part).interval)

    def _need_whole(self, node: Node, needs: Mapping[str, list[Interval]]) -> None:
        for name in node.inputs:
            if name in needs:
                needs[name].append((0, self.reuse.axes[name].length))

    def _need_of_sum(self, running: RunningSum, needs: Mapping[str, list[Interval]]) -> None:
        needs[running.source].extend((running.outgoing, running.incoming, *running.edges))

    def _given(self, needed: Iterable[Interval]) -> tuple[Run, ...]:
        """The input's one run: it ends with what is handed over."""
        axis = self.reuse.axes[self.sliding]
        new = axis.length - axis.shift
        first = min([new, *(low for low, _ in needed)])
        return (Run(interval=(first, axis.length), kept=(first, new), computed=((new, axis.length),)),)

    def _bytes(self, name: str) -> int:
        """Of all elements at one position of the time axis."""
        return self.graph.tensors[name].size_bytes // self.reuse.axes[name].length

    @cached_property
    def _costs(self) -> Mapping[str, tuple[int, int]]:
        """By node its products, and its work."""
        return {
            site.node.name: (self.operators[site.node.op].macs(site), _trips(self.operators[site.node.op], site))
            for site in self.graph.sites()
        }

    @cached_property
    def _sums(self) -> Mapping[str, RunningSum]:
        result = (running_sum(site, self.reuse) for site in self.graph.sites())
        return {running.node.name: running for running in result if running is not None}


def _trips(operator: Operator, site: Site) -> int:
    """Trips of all loops, none where elements are only moved."""
    return 0 if operator.name in MOVES else math.prod(loop.extent for loop in operator.access(site).loops)


def _gaps(needed: Iterable[Interval]) -> tuple[int, ...]:
    parts = joined(needed)
    return tuple(sorted({right[0] - left[1] for left, right in pairwise(parts)}))


def _runs(needed: Iterable[Interval], axis: TimeAxis, largest_gap: int) -> tuple[Run, ...]:
    """The runs of a value, in order. Only gaps inside the elements that the call before has can be kept."""
    low, high = axis.reused
    parts = joined(needed)
    result: list[Interval] = []
    for part in parts:
        gap = (result[-1][1], part[0]) if result else (0, 0)
        if result and gap[1] - gap[0] <= largest_gap and low <= gap[0] and gap[1] <= high:
            result[-1] = (result[-1][0], part[1])
        else:
            result.append(part)
    return tuple(_run(part, axis, keeps=largest_gap >= 0) for part in result)


def _run(part: Interval, axis: TimeAxis, *, keeps: bool) -> Run:
    kept = (max(part[0], axis.low), min(part[1], axis.high) - axis.shift)
    if not keeps or kept[0] >= kept[1]:
        return Run(interval=part, kept=(part[0], part[0]), computed=(part,))
    return Run(interval=part, kept=kept, computed=without(part, kept))
