"""Knows the function in which a core computes its share of a tile of one step: pointers to its part, the kernel's call.
Does not know how operands get there (`parts`), nor when it is called (`pipeline`).

An asynchronous kernel's tile has up to three functions: one starts the job, one waits for it, and one finishes what the
job has left in scratch, on all cores. The first two are one where nothing stands in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tilewright.bind.candidates import operations
from tilewright.c_text.rendering import render_call, render_finish, render_source, render_wait
from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.machines.kernel import Call, Operand
from tilewright.ir.programs.expressions import Cast, Expression, FunctionCall, Name, Number, multiplied, remainder
from tilewright.ir.programs.program import Parameter, Part
from tilewright.ir.programs.statements import ByteRange, Charge, Declare, If, KernelCall, KernelWait, Statement
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower.operands.c_boxes import CBox, CSpan, axis_names, window
from tilewright.lower.operands.operand_bindings import (
    OperandBinding,
    base_parameters,
    pointer_to,
    scratch_operand,
)
from tilewright.lower.operands.scope import declared, spans_declared, used
from tilewright.lower.steps.core_share import CoreShare, core_share
from tilewright.lower.steps.engine_jobs import (
    BEHIND,
    declared_windows,
    engine_number,
    finishing,
    job_start,
    job_wait,
    job_windows,
)
from tilewright.lower.tiles.parts import boxes_declared, distance, named, scope, span_names
from tilewright.lower.tiles.tile_nest import extents_of
from tilewright.lower.tiles.tile_operands import OperandLocation, TiledStep
from tilewright.tile.cost.footprint import SUMS
from tilewright.tile.cost.kernel_costs import kernel_cycles, scratch_bytes

Phase = Literal["compute", "start", "wait", "finish"]


@dataclass(slots=True, kw_only=True)
class _Operands:
    """What the kernel is given: variables that point to this core's part, and what must be there for them."""

    given: dict[str, Operand] = field(default_factory=dict)
    declared: list[Declare] = field(default_factory=list)
    bases: list[Parameter] = field(default_factory=list)
    places: tuple[Parameter, ...] = ()  # `Call.bases`
    written: list[str] = field(default_factory=list)  # names of operands
    reads: list[ByteRange] = field(default_factory=list)
    writes: list[ByteRange] = field(default_factory=list)


def compute_part(tiling: TiledStep, phase: Phase = "compute") -> tuple[Part, tuple[CodeFragment, ...]]:
    """This core's share of the innermost tile, or a `phase` of it, and the C at file scope that its kernel needs."""
    tiling = finishing(tiling) if phase == "finish" else tiling
    nest, kernel, sums = tiling.nest, tiling.kernel, tiling.sums
    level = nest.levels[-1] if nest.levels else None
    share = core_share(tiling)
    spans = {
        binding.operand: window(nest.access, binding.operand, share.box, span_names(tiling, binding))
        for binding in tiling.bindings
    }
    operands = _operands(tiling, share, spans)
    job_spans, job = _of_job(tiling, operands) if phase == "finish" else ((), {})
    call = Call(
        site=tiling.site,
        operands=operands.given,
        extents={loop: str(high - low) for loop, (low, high) in share.box.items()},
        name=tiling.function,
        first=str(sums.first) if sums else "",
        last=str(sums.last) if sums else "",
        job=job,
        bases=tuple(base.name for base in operands.places),
    )
    core = _statements(tiling, share, operands, call, phase)
    core = (*declared(operands.declared, core), *core)
    every = [*(span for operand_spans in spans.values() for span in operand_spans), *job_spans]
    mine = (*share.declared, If(condition=share.condition, body=(*spans_declared(every, core), *core)))
    body = (*(boxes_declared(tiling, level, mine, ()) if level else ()), *mine)
    tile = f" of tile {level.counter}" if level and level.moving else ""
    behind = [Parameter(type="int32_t", name=BEHIND)] if phase == "wait" else []
    part = Part(
        role="compute",
        function=named(tiling, phase, None),
        comment=(_COMMENTS.get(phase, share.comment).format(tile=tile),),
        parameters=used([*scope(tiling, level, operands.bases), *behind], body),
        body=body,
    )
    return part, render_source(kernel, call)


_COMMENTS = {
    "start": "Starts a job{tile} on the engine.",
    "wait": "Waits for the job{tile}.",
    "finish": "Finishes this core's share{tile}.",
}


def _statements(
    tiling: TiledStep, share: CoreShare, operands: _Operands, call: Call, phase: Phase
) -> tuple[Statement, ...]:
    """What a core does in a phase, its operands being there."""
    kernel, name = tiling.kernel, tiling.kernel.name
    code = render_finish(kernel, call) if phase == "finish" else render_call(kernel, call)
    wait = render_wait(kernel, call, BEHIND if phase == "wait" else "0") if phase in ("compute", "wait") else None
    begun = KernelCall(
        kernel=name,
        code=code,
        reads=tuple(operands.reads),
        writes=tuple(operands.writes),
        awaited=bool(kernel.wait) and phase != "finish",
    )
    if not kernel.wait or phase == "finish":
        return begun, _charge(tiling, share)
    engine, windows = engine_number(tiling), job_windows(kernel, operands.given, operands.written)
    started: tuple[Statement, ...] = (begun,)
    if kernel.pack_placed:
        windows, declaration, named, forgotten = declared_windows(kernel, windows)
        started = (declaration, named, begun, forgotten)
    started = (*started, job_start(engine, kernel, windows, _cycles(tiling, share)))
    if wait is None:
        return started
    behind = Name(BEHIND) if phase == "wait" else Number(0)
    waited = (KernelWait(kernel=name, code=wait), job_wait(engine, kernel, behind))
    return waited if phase == "wait" else (*started, *waited)


def _of_job(tiling: TiledStep, operands: _Operands) -> tuple[list[CSpan], dict[str, Operand]]:
    """The operands as the engine's job had them, and the variables of their windows."""
    job_spans: list[CSpan] = []
    job: dict[str, Operand] = {}
    for binding in tiling.bindings:
        names = axis_names(f"{tiling.names[binding.operand]}_job", len(binding.shape))
        spans = window(tiling.nest.access, binding.operand, tiling.nest.box, names)
        job_spans += spans
        job[binding.operand] = _with_spans(operands.given[binding.operand], spans)
    return job_spans, job


def _operands(tiling: TiledStep, share: CoreShare, spans: dict[str, tuple[CSpan, ...]]) -> _Operands:
    operands, sums = _Operands(), tiling.sums
    for binding in tiling.bindings:
        location = tiling.internal_value(binding, len(tiling.nest.levels))
        _add(operands, tiling, binding, location, spans[binding.operand], share.box)
        (operands.writes if binding.written else operands.reads).extend(location.ranges)
    if sums is not None:
        like = next(binding for binding in tiling.bindings if binding.operand == sums.output)
        _add(
            operands,
            tiling,
            replace(like, operand=SUMS, dtype=sums.dtype),
            sums.carried,
            spans[like.operand],
            share.box,
        )
        operands.reads.extend(sums.carried.ranges)
        operands.writes.extend(sums.carried.ranges)
    _add_scratch(operands, tiling, share)
    _add_places(operands, tiling)
    return operands


def _add_places(operands: _Operands, tiling: TiledStep) -> None:
    """What a kernel that packs places counts from."""
    if tiling.kernel.pack_placed is None:
        return
    levels, there = len(tiling.nest.levels), tiling.book.buffers
    ranges = (tiling.internal_value(binding, levels).ranges for binding in tiling.bindings)
    names = [region.buffer for regions in ranges for region in regions]
    operands.places = base_parameters([*names, *([tiling.scratch] if tiling.scratch in there else [])], tiling.book)
    operands.bases.extend(operands.places)


def _add(
    operands: _Operands,
    tiling: TiledStep,
    binding: OperandBinding,
    location: OperandLocation,
    spans: Sequence[CSpan],
    box: CBox,
) -> None:
    """One operand. `my_x` is where this core's part of X begins."""
    moved = replace(binding, operand=tiling.sums.output) if tiling.sums and binding.operand == SUMS else binding
    address = location.address + distance(tiling, moved, spans, box, location)
    name = f"my_{tiling.names.get(binding.operand, binding.operand)}"
    operands.declared.append(pointer_to(address, name, binding.dtype, written=binding.written))
    operands.bases.append(location.parameter)
    if binding.written:
        operands.written.append(binding.operand)
    operands.given[binding.operand] = Operand(
        name=binding.operand,
        pointer=name,
        dtype=binding.dtype,
        shape=binding.shape,
        strides=tuple(stride // binding.dtype.size_bytes for stride in location.strides),
        extents=(),
        origin=(),
        before=(),
        after=(),
    )
    operands.given[binding.operand] = _with_spans(operands.given[binding.operand], spans)


def _with_spans(operand: Operand, spans: Sequence[CSpan]) -> Operand:
    """The operand with this window."""
    return replace(
        operand,
        extents=tuple(str(span.extent) for span in spans),
        origin=tuple(str(span.low) for span in spans),
        before=tuple(str(span.before) for span in spans),
        after=tuple(str(span.after) for span in spans),
    )


def _add_scratch(operands: _Operands, tiling: TiledStep, share: CoreShare) -> None:
    """This core's part of the step's scratch."""
    buffer = tiling.book.buffers.get(tiling.scratch)
    if buffer is None:
        operands.given["scratch"] = scratch_operand("NULL", 0)
        return
    place, extents = tiling.book.of_buffer(buffer.name), extents_of(tiling.nest.ranges)
    cores = 1 if tiling.kernel.finish else share.cores  # what a job leaves is all cores'
    size, _ = scratch_bytes(tiling.kernel, tiling.site, tiling.nest.access, extents, cores)
    own: Expression = Cast("int32_t", FunctionCall("tw_rt_core")) * size if share.loop else Number(0)
    if tiling.kernel.wait or tiling.kernel.finish:
        size, own = _jobs_scratch(tiling, size)
    operands.given["scratch"] = scratch_operand("scratch", size)
    operands.declared.append(pointer_to(place.address + own, "scratch", DType.U8, written=True))
    operands.bases.append(place.parameter)
    operands.writes.append(ByteRange(buffer=buffer.name, offset_bytes=0, size_bytes=buffer.size_bytes))


def _jobs_scratch(tiling: TiledStep, size: int) -> tuple[int, Expression]:
    """What one job has of a step's scratch, and where that begins; see `Kernel.wait`."""
    queue = engine_number(tiling).engine.queue
    level = tiling.nest.levels[-1] if tiling.nest.levels else None
    own = size // queue
    moving = queue > 1 and level is not None and level.moving
    return own, remainder(level.tile, queue) * own if moving and level is not None else Number(0)


def _cycles(tiling: TiledStep, share: CoreShare) -> tuple[Expression, ...]:
    """The estimate for the largest tile, and which part of it this one is: arguments of `tw_rt_engine_start`."""
    charge = _charge(tiling, share).code
    arguments = charge.arguments if isinstance(charge, FunctionCall) else ()
    return arguments if len(arguments) == 3 else (*arguments, Number(1), Number(1))


def _charge(tiling: TiledStep, share: CoreShare) -> Charge:
    """The estimate for the largest share, in proportion."""
    extents = extents_of(tiling.nest.ranges)
    work = operations(tiling.kernel, tiling.operator, tiling.site, tiling.platform, share.engine)
    cycles = round(kernel_cycles(tiling.kernel, tiling.site, tiling.nest.access, work, extents, share.engine))
    varying = {loop: high - low for loop, (low, high) in share.box.items() if (high - low).number is None}
    if not varying:
        return Charge(code=FunctionCall("tw_rt_charge", (Number(cycles, unsigned=True),)))
    whole = 1
    for loop in varying:
        whole *= min(extents[loop], share.extent) if loop == share.loop else extents[loop]
    points = multiplied(varying.values())
    return Charge(code=FunctionCall("tw_charge", (Number(cycles, unsigned=True), points, Number(whole))))
