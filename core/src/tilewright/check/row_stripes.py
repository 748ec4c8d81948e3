"""Knows whether the stripes of a region by rows make sense, and whether columns are there when they are read.
Does not know how stripes are found, nor rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tilewright.check.tiling_calls import CheckedStep
from tilewright.check.tiling_operands import BackingOperand
from tilewright.ir.index import mentions
from tilewright.ir.regions import Region, Rows

Ends = tuple[int, int]


def stripe_faults(region: Region, order: Rows, steps: Sequence[CheckedStep]) -> Iterator[str]:
    """What makes no sense about the stripes of an order, where it has any."""
    stripes, rows = order.stripes, order.loops
    if stripes is None:
        return
    if len(stripes.loops) != len(steps) or not stripes.bounds or any(len(one) != len(steps) for one in stripes.bounds):
        yield "its stripes do not name a loop, and columns, for each step"
        return
    if any(held.leaves or held.over for held in region.held.values()) or region.sums:
        yield "it is computed in stripes, and has sums, or values that are needed outside or over others"
    for number, (step, name) in enumerate(zip(steps, stripes.loops, strict=True)):
        yield from _step_faults(step, (rows[number], name), [own[number] for own in stripes.bounds])
    ends = [own[-1] for own in stripes.bounds]
    extent = next((loop.extent for loop in steps[-1].access.loops if loop.name == stripes.loops[-1]), 0)
    if [0, *(high for _, high in ends)] != [*(low for low, _ in ends), extent]:
        yield f"its stripes do not have every column of step '{steps[-1].name}' once"


def _step_faults(step: CheckedStep, loops: tuple[str, str], bounds: Sequence[Ends]) -> Iterator[str]:
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


def column_axis(step: CheckedStep, name: str) -> int | None:
    """The only axis of the output that has to do with a loop, and is it."""
    found = [at for at, axis in enumerate(step.axes(step.outputs[0].name)) if mentions(axis.index, name)]
    return found[0] if len(found) == 1 and step.loops[found[0]] == name else None


def column_fault(
    maker: CheckedStep, columns: Mapping[str, Ends], reader: CheckedStep, item: BackingOperand, box: Mapping[str, Ends]
) -> str:
    """Why a reader does not find all columns of a value in its maker's stripe."""
    for name, (first, end) in columns.items():
        axis = column_axis(maker, name)
        span = reader.access.window(item.name, box)[axis or 0]
        if axis is None or (span.low < span.high and not first <= span.low < span.high <= end):
            return f"step '{reader.name}' reads columns of '{item.value}' that are not in the stripe"
    return ""
