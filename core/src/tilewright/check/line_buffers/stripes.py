"""Knows whether the stripes of a region by rows make sense, and whether columns are there when they are read.
Does not know how stripes are found, nor rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from tilewright.check.tiles.calls import CheckedStep
from tilewright.check.tiles.checked_plan import BackingOperand
from tilewright.ir.access.index import mentions
from tilewright.ir.plans.region import LineBuffers, Region, Stripes

ColumnBounds = tuple[int, int]
Columns = Mapping[str, ColumnBounds]  # loop -> the first column, and one after the last; nothing: all


def stripe_faults(region: Region, order: LineBuffers, steps: Sequence[CheckedStep]) -> Iterator[str]:
    """What makes no sense about the stripes of an order, where it has any."""
    stripes, rows = order.stripes, order.loops
    if stripes is None:
        return
    if (
        len(stripes.loops) != len(steps)
        or not stripes.bounds
        or any(len(bound) != len(steps) for bound in stripes.bounds)
    ):
        yield "its stripes do not name a loop, and columns, for each step"
        return
    live_out = any(held.live_out for held in region.internal_values.values())
    if live_out or any(buffer.aliases for buffer in order.buffers.values()) or region.sums:
        yield "it is computed in stripes, and has sums, or values that are needed outside or over others"
    if len(stripes.edges) not in (0, len(steps)) or any(edge < 0 for edge in stripes.edges) or stripes.edge(-1):
        yield "it does not say how many columns are kept for each step, of the last one none"
        return
    for number, (step, name) in enumerate(zip(steps, stripes.loops, strict=True)):
        bounds = [own[number] for own in stripes.bounds]
        yield from _step_faults(step, (rows[number], name), bounds)
        yield from _edge_faults(step, stripes.edge(number), bounds)
    ends = [own[-1] for own in stripes.bounds]
    extent = next((loop.extent for loop in steps[-1].access.loops if loop.name == stripes.loops[-1]), 0)
    if [0, *(high for _, high in ends)] != [*(low for low, _ in ends), extent]:
        yield f"its stripes do not have every column of step '{steps[-1].name}' once"


def _step_faults(step: CheckedStep, loops: tuple[str, str], bounds: Sequence[ColumnBounds]) -> Iterator[str]:
    """`loops` are that of its rows, and that of its columns."""
    rows, name = loops
    loop = next((loop for loop in step.access.loops if loop.name == name), None)
    if loop is None or loop.kind != "parallel" or column_axis(step, name) is None or rows in ("", name):
        yield f"step '{step.name}' has no columns along loop '{name}'"
        return
    grain = step.kernel.multiples.get(name, 1)
    for low, high in bounds:
        if not 0 <= low < high <= loop.extent or low % grain or (high % grain and high < loop.extent):
            yield f"step '{step.name}' cannot have columns {low} to {high} of {loop.extent}"


def _edge_faults(step: CheckedStep, room: int, bounds: Sequence[ColumnBounds]) -> Iterator[str]:
    """Each stripe has what the one before leaves it, and computes something."""
    for (first, end), (low, high) in pairwise(bounds) if room else ():
        if low < first or high <= end:
            yield f"step '{step.name}' has columns {first} to {end} in one stripe, and then {low} to {high}"
        if end - low > room:
            yield f"{end - low} columns of step '{step.name}' pass to the next stripe, and there is room for {room}"


def computed_columns(order: LineBuffers, steps: int) -> Iterator[Sequence[Columns]]:
    """By stripe and step the columns that are computed; of no stripes all of them."""
    stripes = order.stripes
    if stripes is None:
        yield [{}] * steps
        return
    for number in range(len(stripes.bounds)):
        yield [{loop: _computed(stripes, number, step)} for step, loop in enumerate(stripes.loops)]


def _computed(stripes: Stripes, number: int, step: int) -> ColumnBounds:
    """What a stripe has of a step, but for what the one before leaves it."""
    low, high = stripes.bounds[number][step]
    passed = number > 0 and stripes.edge(step) > 0
    return (max(low, stripes.bounds[number - 1][step][1]) if passed else low), high


def column_faults(order: LineBuffers, steps: Sequence[CheckedStep], views: Mapping[str, str]) -> Iterator[str]:
    """Why a step does not find all columns of a value in a stripe, whichever rows of it are read."""
    stripes, makers = order.stripes, {step.outputs[0].value: number for number, step in enumerate(steps[:-1])}
    if stripes is None:
        return
    for own, computed in zip(stripes.bounds, computed_columns(order, len(steps)), strict=True):
        for step, columns in zip(steps, computed, strict=True):
            box = {loop.name: (0, loop.extent) for loop in step.access.loops} | dict(columns)
            for item in (item for item in step.operands if not item.written):
                maker = makers.get(views.get(item.value, item.value))
                if maker is not None:
                    yield from _read_fault(steps[maker], (stripes.loops[maker], own[maker]), step, item, box)


def column_axis(step: CheckedStep, name: str) -> int | None:
    """The only axis of the output that has to do with a loop, and is it."""
    result = [at for at, axis in enumerate(step.axes(step.outputs[0].name)) if mentions(axis.index, name)]
    return result[0] if len(result) == 1 and step.loops[result[0]] == name else None


def _read_fault(
    maker: CheckedStep,
    columns: tuple[str, ColumnBounds],
    reader: CheckedStep,
    item: BackingOperand,
    box: Mapping[str, ColumnBounds],
) -> Iterator[str]:
    """`columns` are those that its maker has of a value in the stripe."""
    name, (first, end) = columns
    if item.value != maker.outputs[0].value:
        yield f"'{item.value}' is read in stripes through a view"
        return
    axis = column_axis(maker, name)
    span = reader.access.window(item.name, box)[axis or 0]
    if axis is None or (span.low < span.high and not first <= span.low < span.high <= end):
        yield f"step '{reader.name}' reads columns of '{item.value}' that are not in the stripe"
