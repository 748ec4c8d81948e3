"""Knows how a region by rows becomes C: a function for the rows of each step, and one that goes through the order.
Does not know what is in a step's function (`line_buffer_calls`), the other regions, nor the border of the program.

The order is a constant table of bytes: parts, each of them how often it is repeated, how many calls it has, and these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tilewright.c_text.fragment_files import fragment_file
from tilewright.ir.plans.region import LineBuffers, Region, RepeatedCalls
from tilewright.ir.programs.expressions import Cast, Element, Expression, Field, FunctionCall, Name, Number
from tilewright.ir.programs.program import ARRIVALS, DEPARTURES, PROGRESS, Part, StepCode
from tilewright.ir.programs.statements import ByteRange, Declare, For, KernelCall, Statement, Switch
from tilewright.lower.line_buffers.step_calls import ROWS, HeldRows, RowCall, step_call_part
from tilewright.lower.line_buffers.streamed_io import next_call, numbered_ports, port_part, waiting_calls
from tilewright.lower.line_buffers.stripe_edges import PassedColumns
from tilewright.lower.line_buffers.stripes import StripeTable
from tilewright.lower.operands.addresses import AddressBook
from tilewright.lower.operands.operand_bindings import operand_bindings
from tilewright.lower.operands.scope import used
from tilewright.lower.regions.tiled_region import Lowering
from tilewright.lower.steps.step_comments import Row, step_comment, type_text
from tilewright.lower.steps.whole_step import Lowered
from tilewright.lower.tiles.parts import call_part
from tilewright.tile.cost.footprint import SUMS, tile_buffer_name
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import BufferedStep
from tilewright.tile.line_buffers.buffers import EDGES, buffered_steps_of, counters_name
from tilewright.tile.machine import ScheduledMachine

_MOST = 255  # in a byte
_SECTIONS = ("ranges", "windows", "rows")


def lower_line_buffers(region: Region, lowering: Lowering) -> Iterator[Lowered]:
    """The steps of a region, in order. All code is the last one's."""
    if region.line_buffers is None:
        raise ValueError(f"region '{region.name}' is not computed by rows")
    calls = _calls(region, region.line_buffers, lowering)
    ports = numbered_ports(lowering.machine)
    several = len(lowering.row_steps.arriving) > 1
    made = [
        (port_part(call, ports[call.one.step.name][1], several=several), ())
        if call.one.step.name in ports
        else step_call_part(call)
        for call in calls
    ]
    taking = "several_arrivals" if several else "arrivals"
    passing = {"departures" if call.one.departs else taking for call in calls if call.one.step.name in ports}
    passing |= {"row_edges" for call in calls if call.edges}
    helpers = tuple(fragment_file("tilewright.lower", f"text/{name}.c") for name in (*_SECTIONS, *sorted(passing)))
    for call, (_, sources) in zip(calls, made, strict=True):
        final = call is calls[-1]
        code = _step(calls, [part for part, _ in made], region, lowering) if final else _nothing(call, region, lowering)
        yield Lowered(code=code, sources=(*helpers, *sources), kernel=call.kernel)


def _calls(region: Region, rows: LineBuffers, lowering: Lowering) -> tuple[RowCall, ...]:
    steps = lowering.row_steps
    members = buffered_steps_of(steps, region)
    held = dict(_held(region, rows, members, lowering.book))
    calls = tuple(
        _call(number, member, rows.extents[number], region, lowering, steps, held)
        for number, member in enumerate(members)
    )
    return tuple(
        replace(call, readers=tuple(
            (reader, read) for reader in calls for read in reader.one.reads if read.value == call.one.output.value
        ))
        for call in calls
    )  # fmt: skip


def _held(
    region: Region, rows: LineBuffers, members: Sequence[BufferedStep], book: AddressBook
) -> Iterator[tuple[str, HeldRows]]:
    for number, member in enumerate(members[:-1]):
        buffer = rows.buffers.get(member.output.value)
        if buffer is not None:
            memory = region.internal_values[member.output.value].memory
            name = tile_buffer_name(member.step.name, member.output.name, memory, 0)
            yield (
                member.output.value,
                HeldRows(
                    number=number,
                    place=book.of_buffer(name),
                    region=_all_of(name, book),
                    axis=member.axis or 0,
                    rows=buffer.rows if member.axis is not None else (member.output.shape or (1,))[0],
                    shape=member.shape,
                    columns=member.columns.axis if member.columns else None,
                ),
            )


def _shown(
    step: BufferedStep, held: Mapping[str, HeldRows], machine: ScheduledMachine
) -> Iterator[tuple[str, HeldRows]]:
    """The views through which a step reads what is held: flattened, or all of it."""
    for read in step.reads:
        if not read.view or read.value not in held:
            continue
        kept, shape = held[read.value], machine.bound.graph.tensors[read.view].shape
        if any(read.low):
            axis = max(range(len(shape)), key=shape.__getitem__)
            yield read.view, replace(kept, axis=axis, shape=shape, shown=step.flattened)
        else:
            yield read.view, replace(kept, axis=0, rows=shape[0], shape=shape)


def _all_of(buffer: str, book: AddressBook) -> ByteRange:
    return ByteRange(buffer=buffer, offset_bytes=0, size_bytes=book.buffers[buffer].size_bytes)


def _call(
    number: int,
    step: BufferedStep,
    trips: int,
    region: Region,
    lowering: Lowering,
    steps: LineBufferAnalysis,
    held: Mapping[str, HeldRows],
) -> RowCall:
    machine, book, name = lowering.machine, lowering.book, step.step.name
    node = machine.nodes[name]
    held = {**held, **dict(_shown(step, held, machine))}
    inner = {value: where.region.buffer for value, where in held.items()}
    binding = machine.bound.bindings[name]
    sums = tile_buffer_name(name, SUMS, machine.platform.backing_memory().name, 0) if step.sums else ""
    return RowCall(
        number=number,
        one=step,
        extents=trips,
        backward=region.line_buffers is not None and region.line_buffers.backward,
        site=machine.site(step.step),
        kernel=binding.kernel,
        access=machine.access(step.step),
        bindings=operand_bindings(machine.bound.site(node), machine.operators[node.op], binding, book, inner),
        function=lowering.function(step.index, node.op),
        book=book,
        line_buffer=held,
        sums=book.of_buffer(sums) if sums else None,
        sums_region=_all_of(sums, book) if sums else None,
        scratch=f"{region.name}.scratch",
        scratch_bytes=steps.calls.scratch_bytes(step, trips),
        edges=_edges(number, step, region, lowering, held),
        stripes=_stripes(region, lowering),
    )


def _edges(
    number: int, step: BufferedStep, region: Region, lowering: Lowering, held: Mapping[str, HeldRows]
) -> PassedColumns | None:
    kept, stripes = held.get(step.output.value), _stripes(region, lowering)
    if kept is None or kept.columns is None or stripes is None or not step.edges_bytes:
        return None
    name = tile_buffer_name(step.step.name, EDGES, lowering.machine.platform.backing_memory().name, 0)
    return PassedColumns(
        number=number,
        one=step,
        held=kept.place,
        held_region=kept.region,
        capacity=kept.capacity,
        first=Field(Element(ROWS.variable, Number(number)), "first"),
        place=lowering.book.of_buffer(name),
        region=_all_of(name, lowering.book),
        stripes=stripes,
    )


def _stripes(region: Region, lowering: Lowering) -> StripeTable | None:
    if region.line_buffers is None or region.line_buffers.stripes is None:
        return None
    index = lowering.machine.numbers[region.name]
    function = lowering.function(index, lowering.machine.nodes[region.name].op)
    return StripeTable(name=Name(f"{function}_columns"), stripes=region.line_buffers.stripes)


# --- the last step's function


def _step(calls: Sequence[RowCall], parts: Sequence[Part], region: Region, lowering: Lowering) -> StepCode:
    book, rows = lowering.book, region.line_buffers
    counters = counters_name(region, lowering.machine.platform.backing_memory().name)
    order = Name(f"{calls[-1].function}_order")
    table = list(call_schedule_table(rows.call_schedule if rows else ()))
    start = book.of_buffer(counters).address
    begun = KernelCall(
        kernel="tw_begin_rows",
        code=FunctionCall("tw_begin_rows", (ROWS.variable, Number(len(calls)))),
        reads=(),
        writes=(_all_of(counters, book),),
    )
    waits = any(PROGRESS in part.parameters for part in parts)
    following = next_call(order) if waits else Element(order, Name("at") + Name("call") + 2)
    switch = Switch(value=following, bodies=tuple((call_part(part, {}),) for part in parts))
    alone = len(parts) == 1 and not waits
    again = _calls_of(parts[0], rows) if alone else _loops(order, len(table), switch)
    stripes, loops = calls[-1].stripes, (begun, again)
    early = tuple(call_part(parts[call.number], {}) for call in calls if _comes_early(call, lowering))
    every: tuple[Statement, ...] = waiting_calls(order, len(table), begun, switch, early) if waits else loops
    counted = Declare(type="tw_rows *const", name=ROWS.name, value=Cast("tw_rows *", start))
    body: tuple[Statement, ...] = (counted, *((stripes.each(every),) if stripes else every))
    return StepCode(
        step=calls[-1].one.step.name,
        function=calls[-1].function,
        comment=_comment(calls[-1], calls, region, lowering),
        parameters=tuple(sorted(used((*book.bases, PROGRESS, ARRIVALS, DEPARTURES), body), key=lambda base: base.name)),
        body=body,
        declarations=(*((stripes.text(),) if stripes else ()), *(() if alone else (_declared(order, table),))),
        parts=tuple(parts),
    )


def _comes_early(call: RowCall, lowering: Lowering) -> bool:
    """Whether rows are taken before the call that reads them: those of several inputs may come in any order."""
    arriving = lowering.row_steps.arriving
    return len(arriving) > 1 and call.one.step.name in arriving


def _calls_of(part: Part, rows: LineBuffers | None) -> Statement:
    """All calls of a step that is alone."""
    stop, one = Number(len(rows.calls) if rows else 0), Number(1)
    return For(variable="call", start=Number(0), stop=stop, step=one, body=(call_part(part, {}),))


def _loops(order: Name, length: int, call: Statement) -> Statement:
    """Every call of every turn of every part."""
    at, one = Name("at"), Number(1)
    calls = For(variable="call", start=Number(0), stop=Element(order, at + 1), step=one, body=(call,))
    turns = For(variable="turn", start=Number(0), stop=Element(order, at), step=one, body=(calls,))
    following: Expression = Element(order, at + 1) + 2
    return For(variable="at", start=Number(0), stop=Number(length), step=following, body=(turns,))


def call_schedule_table(word: Sequence[RepeatedCalls]) -> Iterator[int]:
    for folded, turns in word:
        steps, times = (folded, turns) if len(folded) <= _MOST else (folded * turns, 1)
        for start in range(0, len(steps), _MOST):
            part, left = steps[start : start + _MOST], times
            while left > 0:
                yield from (min(left, _MOST), len(part), *part)
                left -= _MOST


def _declared(order: Name, table: Sequence[int]) -> str:
    lines = [", ".join(map(str, table[at : at + 24])) for at in range(0, len(table), 24)]
    body = ",\n    ".join(lines)
    said = "/* The calls in their order: how many times over, how many they are, and of each its case below. */"
    return f"{said}\nstatic const uint8_t {order}[{len(table)}] = {{\n    {body},\n}};"


# --- comments


def _nothing(call: RowCall, region: Region, lowering: Lowering) -> StepCode:
    """A step that is computed in the last one's function."""
    comment = _comment(call, (call,), region, lowering)
    return StepCode(step=call.one.step.name, function=call.function, comment=comment, parameters=(), body=())


def _comment(call: RowCall, calls: Sequence[RowCall], region: Region, lowering: Lowering) -> tuple[str, ...]:
    machine, sink = lowering.machine, lowering.machine.numbers[region.name]
    final = call.one.step.name == region.name
    total = len(region.line_buffers.calls) if region.line_buffers else 0
    numbers = ", ".join(str(row_call.one.index) for row_call in calls)
    often = f" for each of {len(call.stripes.stripes.bounds)} stripes" if call.stripes else ""
    whose = f"steps {numbers} together" if len(calls) > 1 else f"step {numbers} alone"
    line = f"{whose}, in {total} calls{often}" if final else f"by rows, in the function of step {sink}"
    return step_comment(
        call.one.index,
        len(machine.scheduled.steps),
        call.site,
        machine.bound.bindings[call.one.step.name],
        [binding for binding in call.bindings if binding.what not in call.line_buffer],
        lowering.book,
        call.one.step,
        buffers=list(_rows(call)),
        tiles=[_trips_line(call), line],
    )


def _trips_line(call: RowCall) -> str:
    return (
        f"{call.extents} of {call.one.extent} of loop {call.one.loop} in a call" if call.one.loop else "all in one call"
    )


def _rows(call: RowCall) -> Iterator[Row]:
    """What is held, as far as the step reads or writes it."""
    for binding in call.bindings:
        held = call.line_buffer.get(binding.what)
        if held is None:
            continue
        kind, size = type_text(binding.dtype.value, held.capacity, binding.layout), held.region.size_bytes
        where = f"{held.place.where} [{held.place.offset_bytes}, {held.place.offset_bytes + size})"
        yield binding.operand.ljust(7), kind, where, f"{held.rows} of {held.every} rows held"
