"""Knows what a nest of a group of steps computes, copies and takes, whatever room there is and whoever starts copies.
Does not know which nests are tried, nor how many buffers its copies have.

Everything is worked out when it is asked for, and once: plans of other orders, rooms and settings have equal groups,
and ask for the same nests.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.ir.plans.region import Copy, Cut, Form, Hop, InternalValue, Region, SplitReduction, Tiles, key_of
from tilewright.ir.rounding import align_up
from tilewright.tile.cost.copy_queues import queues_of
from tilewright.tile.cost.footprint import scratchpad_bytes
from tilewright.tile.cost.region_cost import compute_cycles
from tilewright.tile.cost.tile_boxes import Boxes, boxes_of
from tilewright.tile.cost.traffic import Crossing, Traffic, crossings_of, traffic_of
from tilewright.tile.space.fusion import RegionAnalysis, whole_hops
from tilewright.tile.space.split_reductions import sums_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

Nest = tuple[Cut, ...]
Sums = Mapping[str, SplitReduction]  # by step


class NestCosts:
    """One nest of the last hop, whatever is copied being so as seldom as one buffer allows."""

    def __init__(self, analysis: RegionAnalysis, outer: tuple[Hop, ...], nest: Nest, form: Form) -> None:
        self.analysis, self.nest = analysis, nest
        self._hops, self._form = hops_with(analysis, nest, outer), form

    @property
    def forms(self) -> Mapping[str, Form]:
        """How values inside are held."""
        return dict.fromkeys(self.analysis.inner, self._form)

    @cached_property
    def boxes(self) -> Boxes:
        """With what is copied over the last hop open."""
        return boxes_of(self.analysis, self._hops, self.forms)

    @cached_property
    def sums(self) -> Sums:
        """Of the sink, where the nest cuts a reduction: in its output's tile, if that is copied and of their type."""
        sink = self.analysis.sink
        copied = any(item.written for item in sink.space.copied)
        same = sink.sums is not None and sink.space.site.outputs[0].dtype is sink.sums.dtype
        sums = sums_of(sink.access, sink.sums, (self.nest,), in_output=copied and same)
        return {sink.step.name: sums} if sums else {}

    @cached_property
    def sound(self) -> bool:
        """Whether every element is computed once, and every step called with trips that its kernel takes."""
        return not self.boxes.faults and _multiples(self.analysis, self.boxes)

    @cached_property
    def held_bytes(self) -> int:
        """What the region takes beside what it copies."""
        hops = len(self._hops)
        return scratchpad_bytes(self.boxes, ((),) * hops, self.sums, hops - 1)

    @cached_property
    def computes(self) -> Numbers:
        """See `compute_cycles`."""
        return compute_cycles(self.boxes)

    @cached_property
    def computing(self) -> float:
        """The same of all tiles."""
        return float(self.computes.sum())

    @cached_property
    def copied(self) -> Boxes:
        """With copies over the last hop."""
        return with_copies(self.boxes)

    @cached_property
    def crossings(self) -> tuple[tuple[Crossing, ...], ...]:
        """What every hop copies."""
        return crossings_of(self.copied)

    @cached_property
    def copied_bytes(self) -> int:
        """What is copied takes of the last hop's scratchpad."""
        grain = self.analysis.grains[-1]
        return sum(align_up(crossing.tile_bytes, grain) for crossing in self.crossings[-1] if crossing.own)

    @cached_property
    def traffic(self) -> tuple[tuple[Traffic, ...], ...]:
        """The transfers of every hop."""
        return traffic_of(self.copied, self.crossings)

    @cached_property
    def legal(self) -> bool:
        """Whether every transfer can be done."""
        return all(crossing.legal and not crossing.fault for here in self.traffic for crossing in here)

    @cached_property
    def least_cycles(self) -> float:
        """What it takes if all is behind the computation but what comes first and goes last, or behind the copies."""
        queues = [queues_of(crossing.item for crossing in here) for here in self.traffic]
        copying = [
            float(sum(crossing.cycles.sum() for crossing in here)) / count
            for here, count in zip(self.traffic, queues, strict=True)
        ]
        ends = sum(float(crossing.cycles.flat[-1 if crossing.item.written else 0]) for crossing in self.traffic[-1])
        return max(self.computing + ends / queues[-1], *copying)

    @cached_property
    def moved_bytes(self) -> int:
        """Over all hops."""
        return sum(crossing.size_bytes for here in self.traffic for crossing in here)


@dataclass(frozen=True, slots=True)
class GroupNests:
    """The nests of all groups of equal steps: these differ in names, room, and who starts copies. `analysis`: the first
    of them, whose names all nests have.
    """

    analysis: RegionAnalysis
    known: dict[Hashable, NestCosts] = field(default_factory=dict)

    def named(self, analysis: RegionAnalysis) -> RegionAnalysis:
        """One of these groups, with the names of the first."""
        pairs = zip(self.analysis.members, analysis.members, strict=True)
        members = tuple(replace(first, spaces=own.spaces) for first, own in pairs)
        return replace(self.analysis, members=members, rooms=analysis.rooms)

    def nest(self, outer: tuple[Hop, ...], nest: Nest, form: Form) -> NestCosts:
        """One of the nests; `outer` are the hops before the last."""
        key = tuple((hop.nest, tuple(hop.copies.items())) for hop in outer), nest, form
        if key not in self.known:
            self.known[key] = NestCosts(self.analysis, outer, nest, form)
        return self.known[key]


def hops_with(analysis: RegionAnalysis, nest: Sequence[Cut], outer: tuple[Hop, ...] | None = None) -> tuple[Hop, ...]:
    """All hops, with what is copied over the last one open. `outer` are those before it; None: whole values cross."""
    last = analysis.hops[-1]
    before = whole_hops(analysis) if outer is None else outer
    return (*before, Hop(outer=last.outer, inner=last.inner, nest=tuple(nest)))


def region_of(boxes: Boxes, forms: Mapping[str, Form], sums: Sums = MappingProxyType({})) -> Region:
    """The steps of the region, tiled so."""
    near = boxes.hops[-1].inner
    return Region(
        steps=tuple(member.step.name for member in boxes.analysis.members),
        schedule=Tiles(hops=boxes.hops),
        internal_values={
            member.output.value: InternalValue(memory=near, form=forms[member.output.value], live_out=member.live_out)
            for member in boxes.analysis.members[:-1]
        },
        sums=sums,
    )


def with_copies(boxes: Boxes) -> Boxes:
    """With copies over the last hop that are as seldom as one buffer allows."""
    copies = {
        key_of(member.step.name, item.name): Copy(
            level=max(boxes.copy_level_of(number, item.name) - boxes.starts[-2], 0)
        )
        for number, member in enumerate(boxes.analysis.members)
        for item in member.space.copied
    }
    return replace(boxes, hops=(*boxes.hops[:-1], replace(boxes.hops[-1], copies=copies)))


def _multiples(analysis: RegionAnalysis, boxes: Boxes) -> bool:
    """Whether every step is called with trips that its kernel takes."""
    for member, runs in zip(analysis.members, boxes.runs, strict=True):
        for loop, grain in member.space.kernel.multiples.items():
            if grain > 1 and loop in runs:
                low, high = runs[loop]
                extent = member.space.extents[loop]
                if (low % grain).any() or ((high % grain) * (high != extent)).any():
                    return False
    return True
