"""Knows the function that computes the next rows of one step of a region by rows: room for them, pointers, the kernel.
Does not know when it is called (`line_buffer_search`), nor how the order was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from tilewright.c_text.identifiers import unique_identifiers
from tilewright.c_text.rendering import render_call, render_source
from tilewright.ir.access.index_map import Access
from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.machines.kernel import Call, Kernel, Matched, Operand
from tilewright.ir.plans.region import FlattenedRows
from tilewright.ir.programs.expressions import (
    Element,
    Expression,
    Field,
    FunctionCall,
    Name,
    Number,
    Reference,
    all_of,
    equal,
    folded,
)
from tilewright.ir.programs.program import Parameter, Part
from tilewright.ir.programs.statements import ByteRange, Declare, For, KernelCall, Statement
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import Layout, strides
from tilewright.lower.line_buffers.stripe_edges import PassedColumns
from tilewright.lower.line_buffers.stripes import NAMES, STRIPE, StripeTable
from tilewright.lower.operands.addresses import RUN_LOCALS, Address, AddressBook
from tilewright.lower.operands.c_boxes import NOTHING, Bounds, CBox, CSpan, axis_names, fixed, lows, whole_box, window
from tilewright.lower.operands.operand_bindings import OperandBinding, pointer_to, scratch_operand
from tilewright.lower.operands.scope import declared, spans_declared, used
from tilewright.lower.tiles.strided_copies import LOOPS
from tilewright.tile.cost.footprint import SUMS
from tilewright.tile.line_buffers.buffered_step import BufferedStep, RowRead

ROWS = Parameter(type="tw_rows *", name="rows")  # the counters of all steps
_ROW, _PART = Name("row"), Name("part")  # the only row of a call, or the range of them
_RUN = Name("run")  # of the parts of a loop that rows are in
_LOCALS = (*RUN_LOCALS, *LOOPS, ROWS.name, *NAMES, "row", "part", "run", "scratch", "acc")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRows:
    """Where rows of a value are kept: `rows` of them along an axis, from the first that the step's counter names. A
    single number is a row.

    Of a view that shows the value flattened, `shown` says which elements along the axis a row is.
    """

    number: int  # of the step that computes them
    place: Address
    region: ByteRange
    axis: int
    rows: int
    shape: tuple[int, ...]  # of the value, or of what the widest stripe has of it
    columns: int | None = None  # the axis of columns, where these are in stripes
    shown: FlattenedRows | None = None

    @property
    def every(self) -> int:
        """All rows that there are."""
        if not self.shape:
            return 1
        return self.shown.rows(self.shape[self.axis]) if self.shown else self.shape[self.axis]

    @property
    def capacity(self) -> tuple[int, ...]:
        """Extents of what is kept."""
        return tuple(
            self.rows * (extent // self.every) if axis == self.axis else extent
            for axis, extent in enumerate(self.shape)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCall:
    """One step of a region. `readers` are the steps that read what it holds: their number, and how they read it."""

    number: int
    one: BufferedStep
    extents: int
    backward: bool  # from the last row to the first
    site: Matched
    kernel: Kernel
    access: Access
    bindings: tuple[OperandBinding, ...]
    function: str
    book: AddressBook
    line_buffer: Mapping[str, HeldRows]  # value -> where the region keeps rows of it
    readers: tuple[tuple[RowCall, RowRead], ...] = ()
    sums: Address | None = None
    sums_region: ByteRange | None = None
    edges: PassedColumns | None = None  # columns that pass from one stripe to the next
    scratch: str = ""  # buffer
    scratch_bytes: int = 0
    stripes: StripeTable | None = None

    @property
    def counter(self) -> Expression:
        """How far the step has come."""
        return Element(ROWS.variable, Number(self.number))

    @property
    def made(self) -> Expression:
        """Trips that are done."""
        return Field(self.counter, "made")

    @property
    def same_layout(self) -> bool:
        """Whether every call has the same number of trips."""
        return self.one.extent % self.extents == 0

    @property
    def bounds(self) -> Bounds:
        """The trips of a call, in its function."""
        if self.extents == self.one.extent:
            return Number(0), Number(self.extents)
        return (_ROW, _ROW + self.extents) if self.same_layout else (Field(_PART, "low"), Field(_PART, "high"))

    @property
    def done(self) -> Expression:
        """Trips that are done after a call."""
        _, end = self.bounds
        if not self.backward or self.extents == self.one.extent:
            return end
        return self.made + self.extents if self.same_layout else Number(self.one.extent) - Field(_PART, "low")

    @property
    def box(self) -> CBox:
        """The trips of every loop."""
        return self._at(self._through(self.bounds))

    @property
    def in_runs(self) -> bool:
        """Whether rows are in several parts of the loop, with a call of the kernel for each."""
        return self.one.flattened.runs > 1

    @property
    def first(self) -> Expression:
        """The condition that a call of the kernel begins the sums."""
        return all_of(equal(self.bounds[0], 0), *((equal(_RUN, 0),) if self.in_runs else ()))

    @property
    def last(self) -> Expression:
        """The condition that it ends them."""
        ends = [equal(_RUN, self.one.flattened.runs - 1)] if self.in_runs else []
        return all_of(equal(self.bounds[1], self.one.extent), *ends)

    def _through(self, rows: Bounds) -> Bounds:
        """The trips of the loop that rows are: other ones where it goes through an image that is read flattened."""
        if self.one.sums is None:
            return rows
        before, length = _RUN * self.one.extent if self.in_runs else NOTHING, self.one.flattened.length
        return (before + rows[0]) * length, (before + rows[1]) * length

    def _at(self, bounds: Bounds) -> CBox:
        whole = fixed(whole_box(self.access))
        columns = {self.one.columns.loop: self.stripes.bounds(self.number)} if self.one.columns and self.stripes else {}
        return {**whole, **({self.one.loop: bounds} if self.one.loop else {}), **columns}

    def still_read(self, read: RowRead, axis: int) -> Expression:
        """The first row of a value that the step has not read for the last time."""
        if not any(read.low):
            return NOTHING
        if read.view:
            return self.made
        return lows(self.access, read.operand, self._at((self.made, self.made + 1)))[axis]


@dataclass(slots=True, kw_only=True)
class _Operands:
    given: dict[str, Operand] = field(default_factory=dict)
    declared: list[Statement] = field(default_factory=list)
    spans: list[CSpan] = field(default_factory=list)
    reads: list[ByteRange] = field(default_factory=list)
    writes: list[ByteRange] = field(default_factory=list)


def step_call_part(call: RowCall) -> tuple[Part, tuple[CodeFragment, ...]]:
    """The function, and the C at file scope that its kernel needs."""
    names = _names(call)
    operands = _operands(call, names)
    call_here = Call(
        site=call.site,
        operands=operands.given,
        extents={loop: str(high - low) for loop, (low, high) in call.box.items()},
        name=call.function,
        first=str(call.first) if call.sums else "",
        last=str(call.last) if call.sums else "",
    )
    compute = KernelCall(
        kernel=call.kernel.name,
        code=render_call(call.kernel, call_here),
        reads=tuple(operands.reads),
        writes=tuple(operands.writes),
    )
    done = KernelCall(
        kernel="tw_made", code=FunctionCall("tw_made", (Reference(call.counter), call.done)), reads=(), writes=()
    )
    once: tuple[Statement, ...] = (*declared(operands.declared, (compute,)), compute)
    ended = (*(call.edges.statements(call.bounds) if call.edges else ()), done, *traced_rows(call))
    core = _each_run(call, operands.spans, once, ended)
    core = (*make_space(call, call.bounds[1], first_wanted(call)), *core)
    body = (*declared(_trips(call), core), *core)
    part = Part(
        role="rows",
        function=f"{call.function}_rows",
        comment=(f"Step {call.one.index}: {'its next rows' if call.one.loop else 'all of it'}.",),
        parameters=used((*sorted(call.book.bases, key=lambda base: base.name), ROWS, STRIPE), body),
        body=body,
    )
    return part, render_source(call.kernel, call_here)


def _each_run(
    call: RowCall, spans: Sequence[CSpan], once: tuple[Statement, ...], ended: tuple[Statement, ...]
) -> tuple[Statement, ...]:
    """The call of the kernel, for each part of the loop that the rows are in, and what comes after it."""
    if not call.in_runs:
        return (*spans_declared(spans, (*once, *ended)), *once, *ended)
    body = (*spans_declared(spans, once), *once)
    stop = Number(call.one.flattened.runs)
    return (For(variable=_RUN.text, start=NOTHING, stop=stop, step=Number(1), body=body), *ended)


def _trips(call: RowCall) -> Iterator[Statement]:
    first: Expression = Number(call.one.extent - call.extents) - call.made if call.backward else call.made
    yield Declare(type="const int32_t", name=_ROW.text, value=first)
    arguments = (Reference(call.counter), Number(call.extents), Number(call.one.extent))
    function = "tw_rows_before" if call.backward else "tw_next_rows"
    yield Declare(type="const tw_range", name=_PART.text, value=FunctionCall(function, arguments))
    yield from call.stripes.declared(call.number) if call.stripes else ()


def first_wanted(call: RowCall) -> Expression | None:
    """The first row that somebody still reads; None where there is room for all rows."""
    held = call.line_buffer.get(call.one.output.value)
    if held is None or call.one.axis is None or held.rows >= call.one.extent:
        return None
    return folded("tw_least", [reader.still_read(read, held.axis) for reader, read in call.readers])


def make_space(call: RowCall, end: Expression, low: Expression | None) -> Iterator[Statement]:
    """Rows before `low`, which are read no more, give way to those that come; None where there is room for all."""
    if low is None:
        return
    held = call.line_buffer[call.one.output.value]
    arguments = (Reference(call.counter), end, low, held.place.address, *blocks_of(call.one, held.rows))
    yield KernelCall(
        kernel="tw_make_room",
        code=FunctionCall("tw_make_room", arguments),
        reads=(held.region,),
        writes=(held.region,),
    )


def traced_rows(call: RowCall) -> Iterator[Statement]:
    """Those who compare rows as they are made learn where they are; of a value that is held, and nowhere whole."""
    held = call.line_buffer.get(call.one.output.value)
    if held is None:
        return
    step, arguments = call.one, (Number(call.one.index, unsigned=True), Reference(call.counter), held.place.address)
    whole = (Number(1), Number(1), Number(step.row_bytes * step.rows))  # at once, with the last trip
    rows = blocks_of(step, held.rows) if step.axis is not None else whole
    code = FunctionCall("TW_ROWS", (*arguments, *rows, STRIPE.variable if call.stripes else NOTHING))
    yield KernelCall(kernel="TW_ROWS", code=code, reads=(held.region,), writes=())


def blocks_of(step: BufferedStep, rows: int) -> tuple[Expression, Expression, Expression]:
    """Blocks of rows that lie together, rows in each, and the bytes of one."""
    layout = step.output.layout
    outside = layout[: layout.index(step.axis)] if step.axis is not None else ()
    blocks = prod(step.shape[axis] for axis in outside)
    return Number(blocks), Number(rows), Number(step.row_bytes // blocks)


def _names(call: RowCall) -> Mapping[str, str]:
    taken = [*_LOCALS, *(base.name for base in call.book.bases)]
    texts = {binding.operand: binding.operand.lower() for binding in call.bindings}
    names = unique_identifiers(texts.values(), taken=taken, fallback="x")
    return {operand: names[text] for operand, text in texts.items()}


def _operands(call: RowCall, names: Mapping[str, str]) -> _Operands:
    operands = _Operands()
    for binding in call.bindings:
        stem = names[binding.operand]
        spans = window(call.access, binding.operand, call.box, axis_names(stem, len(binding.shape)))
        operands.spans.extend(spans)
        held = call.line_buffer.get(binding.what)
        steps, origin = _stored(binding.shape, binding.layout, held, call.stripes)
        address = (held.place if held else binding.place).address + _distance(spans, origin, steps, binding.dtype)
        _add(operands, binding.operand, stem, address, binding.dtype, binding.shape, steps, spans, binding.written)
        (operands.writes if binding.written else operands.reads).append(held.region if held else binding.region)
    _add_sums(operands, call)
    _add_scratch(operands, call)
    return operands


def _stored(
    shape: Sequence[int], layout: Layout, held: HeldRows | None, stripes: StripeTable | None
) -> tuple[tuple[int, ...], tuple[Expression, ...]]:
    """Elements between neighbours along each axis, and the position that is stored first."""
    origin: list[Expression] = [NOTHING] * len(shape)
    if held is None or not shape:
        return strides(shape, layout), tuple(origin)
    first: Expression = Field(Element(ROWS.variable, Number(held.number)), "first")
    if held.shown:
        origin[held.axis] = _stored_before(first, held, held.shown)
        return strides(shape, layout), tuple(origin)
    if held.rows < shape[held.axis]:
        origin[held.axis] = first
    if held.columns is not None and stripes:
        origin[held.columns] = stripes.first(held.number)
    return strides(held.capacity, layout), tuple(origin)


def _stored_before(first: Expression, held: HeldRows, shown: FlattenedRows) -> Expression:
    """How many elements there would be more before what is read, were all rows there."""
    missing = held.every - held.rows
    if not missing:
        return NOTHING
    return (first + _RUN * missing if shown.runs > 1 else first) * shown.length


def _distance(spans: Sequence[CSpan], origin: Sequence[Expression], steps: Sequence[int], dtype: DType) -> Expression:
    """Bytes from the first element that is stored to the first of the window."""
    total: Expression = NOTHING
    for span, first, step in zip(spans, origin, steps, strict=True):
        total = total + (span.low - first) * (step * dtype.size_bytes)
    return total


def _add(
    operands: _Operands,
    operand: str,
    name: str,
    address: Expression,
    dtype: DType,
    shape: tuple[int, ...],
    steps: tuple[int, ...],
    spans: Sequence[CSpan],
    written: bool,
) -> None:
    operands.declared.append(pointer_to(address, name, dtype, written=written))
    operands.given[operand] = Operand(
        name=operand,
        pointer=name,
        dtype=dtype,
        shape=shape,
        strides=steps,
        extents=tuple(str(span.extent) for span in spans),
        origin=tuple(str(span.low) for span in spans),
        before=tuple(str(span.before) for span in spans),
        after=tuple(str(span.after) for span in spans),
    )


def _add_sums(operands: _Operands, call: RowCall) -> None:
    """The partial results, one for each element of the output."""
    if call.sums is None or call.one.sums is None or call.sums_region is None:
        return
    output, dtype = call.one.output, call.one.sums.dtype
    spans = window(call.access, output.name, call.box, [""] * len(output.shape))
    steps = strides(output.shape, output.layout)
    _add(operands, SUMS, SUMS, call.sums.address, dtype, output.shape, steps, spans, True)
    operands.reads.append(call.sums_region)
    operands.writes.append(call.sums_region)


def _add_scratch(operands: _Operands, call: RowCall) -> None:
    buffer = call.book.buffers.get(call.scratch)
    if buffer is None or not call.scratch_bytes:
        operands.given["scratch"] = scratch_operand("NULL", 0)
        return
    operands.given["scratch"] = scratch_operand("scratch", call.scratch_bytes)
    operands.declared.append(pointer_to(call.book.of_buffer(buffer.name).address, "scratch", DType.U8, written=True))
    operands.writes.append(ByteRange(buffer=buffer.name, offset_bytes=0, size_bytes=buffer.size_bytes))
