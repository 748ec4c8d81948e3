"""Knows the columns of steps in stripes that compute nothing twice: which of them pass from one stripe to the next.
Does not know which steps these are, nor how the columns pass.

A stripe of a step has what is read there, and computes what comes after the columns of the stripe before. At the end of
a row there may be nothing left to compute, because windows have come there earlier. Such a stripe is one with that
before it, in all steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tilewright.ir.tensors.layout import Layout
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import BufferedStep, Columns, RowRead
from tilewright.tile.line_buffers.stripes import columns_of

Ends = tuple[int, int]


def with_edges(steps: LineBufferAnalysis, chosen: Sequence[BufferedStep], count: int) -> tuple[BufferedStep, ...]:
    """The last of these steps with their columns, as many as can be computed in at most so many stripes; () for none.
    The more steps there are, the fewer stripes may be left.
    """
    result, readers, merges = list[_Found](), dict[str, list[tuple[int, RowRead]]](), list[Sequence[Ends]]()
    for step in reversed(chosen):
        inside = [(result[number].after(merges), read) for number, read in readers.get(step.output.value, ())]
        columns = columns_of(steps, step, inside if result else None, count)
        parts = _advancing(columns.bounds) if columns else []
        if columns is None or len(parts) < 2 or not _can_pass(step, columns, parts):
            break
        joined = _joined(replace(step, columns=columns), parts)
        if len(parts) < len(columns.bounds):
            then = [(_joined(reader, parts), read) for reader, read in inside]
            if not _holds(joined, columns_of(steps, step, then, len(parts))):
                break
            merges.append(parts)
        result.append(_Found(one=joined, merged=len(merges)))
        count = len(parts)
        for read in step.reads:
            readers.setdefault(read.value, []).append((len(result) - 1, read))
    return tuple(_after_all(result, merges))


@dataclass(slots=True)
class _Found:
    """A step with its columns, in the stripes that were left after so many merges of stripes."""

    one: BufferedStep
    merged: int

    def after(self, merges: Sequence[Sequence[Ends]]) -> BufferedStep:
        """In the stripes that are left after all of them."""
        for parts in merges[self.merged :]:
            self.one = _joined(self.one, parts)
        self.merged = len(merges)
        return self.one


def _after_all(result: Sequence[_Found], merges: Sequence[Sequence[Ends]]) -> Iterator[BufferedStep]:
    """The steps in their order, from what was found last on, in the stripes that are left after all merges: several
    merges are made one, so that every step is joined once. A step that was asked for on the way has been through more
    of them than those found after it.
    """
    left = [list[Ends]()]  # by the number of merges that are still to come: all of them as one
    for merge in reversed(merges):
        left.append([(merge[low][0], merge[high][1]) for low, high in left[-1]] or list(merge))
    for last in reversed(result):
        parts = left[len(merges) - last.merged]
        yield _joined(last.one, parts) if parts else last.one


def blocks_around(shape: Sequence[int], layout: Layout, rows: int, columns: int) -> tuple[int, ...] | None:
    """The axis around columns, beside that of rows, that is longer than 1; () where there is none. None where columns
    of a row that lie beside one another are not one run of bytes for each position along one such axis.
    """
    around = layout[: layout.index(columns)]
    others = tuple(axis for axis in around if axis != rows and shape[axis] > 1)
    return others if rows in around and len(others) < 2 else None


def _advancing(bounds: Sequence[Ends]) -> list[Ends]:
    """Stripes, the first and the last of each that are to be one, so that all of them have columns to compute."""
    begun, reached = list[int](), 0
    for number, (low, high) in enumerate(bounds):
        if low < high and high > reached:
            begun.append(number)
            reached = high
    return [(low, high - 1) for low, high in pairwise([0, *begun[1:], len(bounds)])] if begun else []


def _can_pass(step: BufferedStep, columns: Columns, parts: Sequence[Ends]) -> bool:
    """Whether stripes begin one after the other, and what two of them have can be copied."""
    bounds = [_all_of(columns.bounds, part) for part in parts]
    if any(before[0] > after[0] for before, after in pairwise(bounds)):
        return False
    if not _edge(bounds):
        return True
    if any(before[1] < after[0] for before, after in pairwise(bounds)):
        return False
    output = step.output
    return step.axis is not None and blocks_around(output.shape, output.layout, step.axis, columns.axis) is not None


def _holds(step: BufferedStep, needed: Columns | None) -> bool:
    """Whether a step has what is read in stripes that are one with others: where windows of one were all padding, what
    is between these and those of the next is read, too.
    """
    if step.columns is None or needed is None:
        return False
    pairs = zip(step.columns.bounds, needed.bounds, strict=True)
    return all(low <= first and end <= high for (low, high), (first, end) in pairs if first < end)


def _joined(step: BufferedStep, parts: Sequence[Ends]) -> BufferedStep:
    if step.columns is None:
        raise ValueError(f"step '{step.step.name}' has no columns")
    bounds = tuple(_all_of(step.columns.bounds, part) for part in parts)
    return replace(step, columns=replace(step.columns, bounds=bounds, edge=_edge(bounds)))


def _all_of(bounds: Sequence[Ends], part: Ends) -> Ends:
    """The columns of several stripes; where nothing is read in one, that begins behind its end."""
    if part[0] == part[1]:
        return bounds[part[0]]
    own = [ends for ends in bounds[part[0] : part[1] + 1] if ends[0] < ends[1]]
    return min(low for low, _ in own), max(high for _, high in own)


def _edge(bounds: Sequence[Ends]) -> int:
    """The most columns that a stripe has of the one before."""
    return max(0, *(before[1] - after[0] for before, after in pairwise(bounds)))
