"""Knows the columns of steps that are computed by rows in stripes: which of them each step has in each stripe.
Does not know which steps these are, nor the order of their calls, which is the same in every stripe.

The columns of the last step are divided evenly. What a stripe reads of a value, its maker computes in that stripe, so
that the columns around an edge are computed on both sides of it: memory is paid for with work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from tilewright.ir.access.index_map import Loop, MapAccess, Span
from tilewright.ir.plans.region import Stripes
from tilewright.ir.rounding import align_down, align_up, ceil_div
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis, parallel_loop
from tilewright.tile.line_buffers.buffered_step import BufferedStep, Columns, RowRead

Reader = tuple[BufferedStep, RowRead]  # a step, and how it reads


def in_stripes(steps: LineBufferAnalysis, chosen: Sequence[BufferedStep], count: int) -> tuple[BufferedStep, ...]:
    """The last of these steps with their columns: as many as can be computed in so many stripes; () for none."""
    result, readers = list[BufferedStep](), dict[str, list[Reader]]()
    for step in reversed(chosen):
        columns = columns_of(steps, step, readers.get(step.output.value, ()) if result else None, count)
        if columns is None or any(low >= high for low, high in columns.bounds):
            break
        result.append(replace(step, columns=columns))
        for read in step.reads:
            readers.setdefault(read.value, []).append((result[-1], read))
    return tuple(reversed(result))


def with_stripes(
    steps: LineBufferAnalysis, chosen: Sequence[BufferedStep], stripes: Stripes | None
) -> tuple[BufferedStep, ...]:
    """The steps with the columns that a region says. ValueError where a step has no such columns."""
    if stripes is None:
        return tuple(chosen)
    bounds = zip(*stripes.bounds, strict=True)
    return tuple(
        replace(
            member,
            columns=Columns(loop=loop, axis=_axis_of(steps, member, loop), bounds=own, edge=stripes.edge(number)),
        )
        for number, (member, loop, own) in enumerate(zip(chosen, stripes.loops, bounds, strict=True))
    )


def stripes_of(members: Sequence[BufferedStep]) -> Stripes | None:
    """What a region says of the columns of its steps."""
    columns = [member.columns for member in members if member.columns]
    if not columns:
        return None
    bounds = tuple(zip(*(column.bounds for column in columns), strict=True))
    edges = tuple(column.edge for column in columns)
    return Stripes(loops=tuple(column.loop for column in columns), bounds=bounds, edges=edges if any(edges) else ())


def columns_of(
    steps: LineBufferAnalysis, step: BufferedStep, readers: Sequence[Reader] | None, count: int
) -> Columns | None:
    """Those of a step, by who reads it; of the last one, which has no readers, even parts. None: it cannot have any.
    Where nothing is read in a stripe the first one is not before the last.
    """
    loop, axis = column_loop(steps, step), steps.column_axes.get(step.output.value)
    if loop is None or axis is None:
        return None
    grain = steps.machine.bound.bindings[step.step.name].kernel.multiples.get(loop.name, 1)
    if readers is None:
        ends = [stripe * ceil_div(loop.extent, grain) // count * grain for stripe in range(count)]
        bounds = list(pairwise((*ends, loop.extent)))
    else:
        ways = [_reading(steps, *reader) for reader in readers]
        bounds = [_needed(ways, stripe, loop.extent) for stripe in range(count)]
    aligned = tuple((align_down(low, grain), min(align_up(high, grain), loop.extent)) for low, high in bounds)
    return Columns(loop=loop.name, axis=axis, bounds=aligned)


def column_loop(steps: LineBufferAnalysis, step: BufferedStep) -> Loop | None:
    """The loop through the columns of a step that has rows, computed by its kernel for some of them at a time. None
    where it reads through a view, which has no such columns.
    """
    axis = steps.column_axes.get(step.output.value)
    has_columns = (
        not step.departs and step.step.name not in steps.arriving and not any(read.view for read in step.reads)
    )
    if step.axis is None or not has_columns:
        return None
    loop = parallel_loop(steps.machine.access(step.step), step.output.name, axis)
    return loop if loop is not None and loop.name != step.loop else None


def _needed(readers: Sequence[Callable[[int], Span]], stripe: int, extent: int) -> tuple[int, int]:
    """What is read of a step's columns in a stripe; nothing is from `extent` to 0."""
    spans = [span for reader in readers if (span := reader(stripe)).extent]
    return min((span.low for span in spans), default=extent), max((span.high for span in spans), default=0)


def _reading(steps: LineBufferAnalysis, reader: BufferedStep, read: RowRead) -> Callable[[int], Span]:
    """By stripe the columns of a value that a step reads. Stripes of many segments have the same columns: each is
    worked out once.
    """
    access, columns = steps.machine.access(reader.step), reader.columns
    if not isinstance(access, MapAccess) or columns is None:
        raise TypeError(f"step '{reader.step.name}' has no columns")
    whole, loop, computed = (
        {axis_loop.name: (0, axis_loop.extent) for axis_loop in access.loops},
        columns.loop,
        columns.computed,
    )
    axis = access.axes[read.operand][steps.column_axes[read.value]]
    known = steps.spans.setdefault((reader.step.name, read.operand, loop), {})

    def columns_read(stripe: int) -> Span:
        own = computed[stripe]
        if own not in known:
            known[own] = axis.span({**whole, loop: own})
        return known[own]

    return columns_read


def _axis_of(steps: LineBufferAnalysis, step: BufferedStep, name: str) -> int:
    access = steps.machine.access(step.step)
    loops = [parallel_loop(access, step.output.name, axis) for axis in range(len(step.output.shape))]
    result = [axis for axis, loop in enumerate(loops) if loop and loop.name == name and axis != step.axis]
    if not result or step.axis is None:
        raise ValueError(f"step '{step.step.name}' has no columns along loop '{name}'")
    return result[0]
