"""Knows the C of steps that rows of inputs and outputs pass, and of a region that waits until they are moved.
Does not know the other steps of the region (`line_buffer_calls`), nor how the application hands rows over (`emit`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tilewright.errors import TilewrightError, unsupported_error
from tilewright.ir.plans.region import Region
from tilewright.ir.programs.expressions import (
    Element,
    Expression,
    Field,
    FunctionCall,
    Name,
    Number,
    Reference,
    equal,
    operation,
)
from tilewright.ir.programs.program import ARRIVALS, DEPARTURES, PROGRESS, Parameter, Part, Port, PortRows
from tilewright.ir.programs.statements import Declare, If, KernelCall, Statement, Switch, While
from tilewright.ir.tensors.layout import same_bytes
from tilewright.lower.line_buffers.step_calls import ROWS, RowCall, blocks_of, first_wanted, make_space, traced_rows
from tilewright.lower.operands.operand_bindings import OperandBinding
from tilewright.lower.operands.scope import used
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.streamed_io import arrivals, departures
from tilewright.tile.machine import ScheduledMachine

_END, _LOW = Name("end"), Name("low")


def port_part(call: RowCall, number: int, *, several: bool) -> Part:
    """The function that takes or gives the rows of the next call, or of the one that waits. `number`: of the end;
    `several`: rows of more than one input arrive, and may be there before the call.
    """
    read, written = (next(item for item in call.bindings if item.written is end) for end in (False, True))
    if call.site.node.op not in ("Arrival", "Departure") or not same_bytes(read.shape, read.layout, written.layout):
        raise _cannot(call.one.step.name, "it is stored otherwise than it passes")
    body = _given(call, read, number) if call.one.departs else _taken(call, read, written, number, several)
    which = "given, as far as there is room for them" if call.one.departs else "taken, as far as they have arrived"
    return Part(
        role="rows",
        function=f"{call.function}_rows",
        comment=(f"Step {call.one.index}: its next rows are {which}.",),
        parameters=used((*_bases(call), ROWS, PROGRESS, ARRIVALS, DEPARTURES), body),
        body=body,
    )


def _bases(call: RowCall) -> list[Parameter]:
    return sorted(call.book.bases, key=lambda base: base.name)


def _end_of_call(call: RowCall) -> Statement:
    ending = FunctionCall("tw_end_of_call", (Reference(call.counter), Number(call.extents), Number(call.one.extent)))
    return Declare(type="const int32_t", name=_END.text, value=ending)


def _end_of_room(call: RowCall, port: Expression, low: Expression | None, rows: int) -> tuple[Statement, ...]:
    """The end of the call, or of what there is room for; before it the first row that is still read, if it counts."""
    declared = (Declare(type="const int32_t", name=_LOW.text, value=low),) if low is not None else ()
    limits = (_LOW if declared else Number(0), Number(call.extents), Number(rows), Number(call.one.extent))
    ending = FunctionCall("tw_end_of_room", (Reference(call.counter), port, PROGRESS.variable, *limits))
    return *declared, Declare(type="const int32_t", name=_END.text, value=ending)


def _taken(
    call: RowCall, read: OperandBinding, written: OperandBinding, number: int, several: bool
) -> tuple[Statement, ...]:
    step, held = call.one, call.line_buffer.get(call.one.output.value)
    place, region = (held.place, held.region) if held else (written.place, written.region)
    rows = held.rows if held and step.axis is not None else step.rows
    port = Reference(Element(ARRIVALS.variable, Number(number)))
    arguments = (Reference(call.counter), port, PROGRESS.variable, _END, place.address, *blocks_of(step, rows))
    code = FunctionCall("tw_take_rows", arguments)
    taking = KernelCall(kernel="tw_take_rows", code=code, reads=(read.region,), writes=(region,))
    low = first_wanted(call)
    ends = _end_of_room(call, port, low, rows) if several else (_end_of_call(call),)
    return *ends, *make_space(call, _END, _LOW if several and low is not None else low), taking, *traced_rows(call)


def _given(call: RowCall, read: OperandBinding, number: int) -> tuple[Statement, ...]:
    step, held = call.one, call.line_buffer.get(read.what)
    place, region = (held.place, held.region) if held else (read.place, read.region)
    rolling = held is not None and step.axis is not None and held.rows < step.rows
    first = Field(Element(ROWS.variable, Number(held.number)), "first") if held and rolling else Number(0)
    port = Reference(Element(DEPARTURES.variable, Number(number)))
    blocks, room, size = blocks_of(step, held.rows if held and rolling else step.rows)
    arguments = (Reference(call.counter), port, PROGRESS.variable, _END, place.address, first, blocks, room, size)
    code = FunctionCall("tw_give_rows", arguments)
    return _end_of_call(call), KernelCall(kernel="tw_give_rows", code=code, reads=(region,), writes=())


def _cannot(step: str, reason: str) -> TilewrightError:
    message = f"an input or output cannot pass in rows: {reason}"
    return unsupported_error("TW4041", message, where=f"step '{step}'", fix=("leave --io push and --io pull out",))


def with_rows(ports: tuple[Port, ...], machine: ScheduledMachine, regions: Sequence[Region]) -> tuple[Port, ...]:
    """The inputs or outputs, and of those that pass in rows these. They may begin at any byte.

    TilewrightError TW4041 (exit 3) where the step that they pass is not computed by rows, because of pins, or of a
    state that was imported.
    """
    sinks = {step: machine.numbers[region.name] for region in regions if region.line_buffers for step in region.steps}
    passing = numbered_ports(machine)
    for step in passing:
        if step not in sinks:
            raise _cannot(step, "what was pinned, or the state that was imported, has it in one piece")
    rows = dict(_rows(machine, passing, sinks)) if passing else {}
    return tuple(replace(port, rows=rows[port.value], align=1) if port.value in rows else port for port in ports)


def numbered_ports(machine: ScheduledMachine) -> Mapping[str, tuple[str, int]]:
    """By step that rows pass: the input or output, and its number among those inputs or those outputs."""
    graph, io = machine.bound.graph, machine.decisions.io
    result: dict[str, tuple[str, int]] = {}
    for ends, steps in (
        (graph.inputs, arrivals(machine.scheduled, io)),
        (graph.outputs, departures(machine.scheduled, io)),
    ):
        order = [name for name in ends if name in steps.values()]
        result.update((step, (name, order.index(name))) for step, name in steps.items())
    return result


def _rows(
    machine: ScheduledMachine, passing: Mapping[str, tuple[str, int]], sinks: Mapping[str, int]
) -> Iterator[tuple[str, PortRows]]:
    steps = LineBufferAnalysis(machine)
    for step, (name, _) in passing.items():
        port = steps.at(machine.numbers[step])
        blocks, count, piece = (item.number or 0 for item in blocks_of(port, port.rows))
        yield name, PortRows(count=count, blocks=blocks, piece_bytes=piece, step=sinks[step])


def waiting_calls(
    order: Expression, length: int, begun: Statement, calls: Switch, early: tuple[Statement, ...]
) -> tuple[Statement, ...]:
    """All calls that can be made, from where the order was left. `begun` is done once, `early` when one waits."""
    entered = Field(PROGRESS.variable, "entered", arrow=True)
    going_on = FunctionCall("tw_goes_on", (PROGRESS.variable, Number(length)))
    following = FunctionCall("tw_next_call", (PROGRESS.variable, order))
    waits = operation(">", Field(PROGRESS.variable, "waiting", arrow=True), 0)
    return (
        If(condition=equal(entered, 0), body=(begun, _once())),
        While(condition=going_on, body=(calls, KernelCall(kernel="tw_next_call", code=following, reads=(), writes=()))),
        *((If(condition=waits, body=early),) if early else ()),
    )


def _once() -> Statement:
    entering = FunctionCall("tw_enters", (PROGRESS.variable,))
    return KernelCall(kernel="tw_enters", code=entering, reads=(), writes=())


def next_call(order: Expression) -> Expression:
    """The call that is next, of the region's order."""
    at, call = (Field(PROGRESS.variable, member, arrow=True) for member in ("at", "call"))
    return Element(order, at + call + 2)
