"""Knows the C of a step that takes the rows of an input as they arrive, and of a region that waits for them.
Does not know the other steps of the region (`row_calls`), nor how the application hands rows over (`emit`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tilewright.errors import TilewrightError, unsupported_error
from tilewright.ir.expressions import Element, Expression, Field, FunctionCall, Name, Number, Reference, equal
from tilewright.ir.layout import same_bytes
from tilewright.ir.program import ARRIVAL, Part, Port, PortRows
from tilewright.ir.regions import Region
from tilewright.ir.statements import Declare, If, KernelCall, Statement, Switch, While
from tilewright.lower.row_calls import ROWS, RowCall, blocks_of, room_for, told_rows
from tilewright.lower.scope import used
from tilewright.tile.arrivals import arrivals
from tilewright.tile.row_steps import RowSteps
from tilewright.tile.step_spaces import ScheduledMachine

_END = Name("end")


def arrival_part(call: RowCall) -> Part:
    """The function that takes the rows of the next call, or of the one that waits for more."""
    one = call.one
    read, written = (next(item for item in call.bindings if item.written is end) for end in (False, True))
    if call.site.node.op != "Arrival" or not same_bytes(read.shape, read.layout, written.layout):
        raise _cannot(one.step.name, "it is stored otherwise than it arrives")
    held = call.held.get(one.output.value)
    place, region = (held.place, held.region) if held else (written.place, written.region)
    rows = held.rows if held and one.axis is not None else one.rows
    counter = Reference(call.counter)
    taken = KernelCall(
        kernel="tw_take_rows",
        code=FunctionCall("tw_take_rows", (counter, ARRIVAL.variable, _END, place.address, *blocks_of(one, rows))),
        reads=(read.region,),
        writes=(region,),
    )
    ending = FunctionCall("tw_end_of_call", (counter, Number(call.trips), Number(one.extent)))
    body: tuple[Statement, ...] = (
        Declare(type="const int32_t", name=_END.text, value=ending),
        *room_for(call, _END),
        taken,
        *told_rows(call),
    )
    return Part(
        role="compute",
        function=f"{call.function}_rows",
        comment=(f"Step {one.index}: its next rows, as far as they have arrived.",),
        parameters=used((*sorted(call.book.bases, key=lambda base: base.name), ROWS, ARRIVAL), body),
        body=body,
    )


def _cannot(step: str, reason: str) -> TilewrightError:
    message = f"an input cannot arrive in rows: {reason}"
    return unsupported_error("TW4041", message, where=f"step '{step}'", fix=("leave --io push out",))


def with_arriving(ports: tuple[Port, ...], machine: ScheduledMachine, regions: Sequence[Region]) -> tuple[Port, ...]:
    """The inputs, and of the one that arrives in rows these. It may begin at any byte.

    TilewrightError TW4041 (exit 3) where the step that takes them is not computed by rows, because of pins, or of a
    state that was imported.
    """
    by_rows = {step for region in regions if region.rows for step in region.steps}
    taking = arrivals(machine.scheduled, machine.decisions.io)
    for step in taking:
        if step not in by_rows:
            raise _cannot(step, "what was pinned, or the state that was imported, has it in one piece")
    rows = dict(_rows(machine, taking)) if taking else {}
    return tuple(replace(port, rows=rows[port.value], align=1) if port.value in rows else port for port in ports)


def _rows(machine: ScheduledMachine, taking: Mapping[str, str]) -> Iterator[tuple[str, PortRows]]:
    steps = RowSteps(machine)
    for step, name in taking.items():
        one = steps.at(machine.numbers[step])
        blocks, count, piece = (item.number or 0 for item in blocks_of(one, one.rows))
        yield name, PortRows(count=count, blocks=blocks, piece_bytes=piece)


def waiting_calls(order: Expression, length: int, begun: Statement, calls: Switch) -> tuple[Statement, ...]:
    """All calls that can be made, from where the order was left. `begun` is done once."""
    going_on = FunctionCall("tw_next_call", (ARRIVAL.variable, order, Number(length)))
    return (
        If(condition=equal(Field(ARRIVAL.variable, "entered", arrow=True), 0), body=(begun,)),
        While(condition=going_on, body=(calls,)),
    )


def next_call(order: Expression) -> Expression:
    """The call that is next, of the region's order."""
    at, call = (Field(ARRIVAL.variable, member, arrow=True) for member in ("at", "call"))
    return Element(order, at + call + 2)
