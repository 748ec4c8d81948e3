"""Knows the function in which a core computes its share of a tile of one step: pointers to its part, the kernel's call.
Does not know how operands get there (`parts`), nor when it is called (`pipeline`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tilewright.bind.candidates import operations
from tilewright.c_text.rendering import render_call, render_source, render_wait
from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.machines.kernel import Call, Operand
from tilewright.ir.programs.expressions import FunctionCall, Number, multiplied
from tilewright.ir.programs.program import Parameter, Part
from tilewright.ir.programs.statements import ByteRange, Charge, Declare, If, KernelCall, KernelWait, Statement
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower.operands.c_boxes import CBox, CSpan, window
from tilewright.lower.operands.operand_bindings import OperandBinding, pointer_to, scratch_operand
from tilewright.lower.operands.scope import declared, spans_declared, used
from tilewright.lower.steps.core_share import CoreShare, core_share
from tilewright.lower.tiles.parts import boxes_declared, distance, named, scope, span_names
from tilewright.lower.tiles.tile_nest import extents_of
from tilewright.lower.tiles.tile_operands import OperandLocation, TiledStep
from tilewright.tile.cost.footprint import SUMS
from tilewright.tile.cost.kernel_costs import kernel_cycles, scratch_bytes


@dataclass(slots=True, kw_only=True)
class _Operands:
    """What the kernel is given: variables that point to this core's part, and what must be there for them."""

    given: dict[str, Operand] = field(default_factory=dict)
    declared: list[Declare] = field(default_factory=list)
    bases: list[Parameter] = field(default_factory=list)
    reads: list[ByteRange] = field(default_factory=list)
    writes: list[ByteRange] = field(default_factory=list)


def compute_part(tiling: TiledStep) -> tuple[Part, tuple[CodeFragment, ...]]:
    """This core's share of the innermost tile, and the C at file scope that its kernel needs."""
    nest, kernel, sums = tiling.nest, tiling.kernel, tiling.sums
    level = nest.levels[-1] if nest.levels else None
    share = core_share(tiling)
    spans = {
        binding.operand: window(nest.access, binding.operand, share.box, span_names(tiling, binding))
        for binding in tiling.bindings
    }
    operands = _operands(tiling, share, spans)
    call = Call(
        site=tiling.site,
        operands=operands.given,
        extents={loop: str(high - low) for loop, (low, high) in share.box.items()},
        name=tiling.function,
        first=str(sums.first) if sums else "",
        last=str(sums.last) if sums else "",
    )
    begun, wait = render_call(kernel, call), render_wait(kernel, call)
    core: tuple[Statement, ...] = (
        KernelCall(kernel=kernel.name, code=begun, reads=tuple(operands.reads), writes=tuple(operands.writes)),
        *([KernelWait(kernel=kernel.name, code=wait)] if wait else []),
        _charge(tiling, share),
    )
    core = (*declared(operands.declared, core), *core)
    every = [span for operand_spans in spans.values() for span in operand_spans]
    mine = (*share.declared, If(condition=share.condition, body=(*spans_declared(every, core), *core)))
    body = (*(boxes_declared(tiling, level, mine, ()) if level else ()), *mine)
    tile = f" of tile {level.counter}" if level and level.moving else ""
    part = Part(
        role="compute",
        function=named(tiling, "compute", None),
        comment=(share.comment.format(tile=tile),),
        parameters=used(scope(tiling, level, operands.bases), body),
        body=body,
    )
    return part, render_source(kernel, call)


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
    return operands


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
    operands.given[binding.operand] = Operand(
        name=binding.operand,
        pointer=name,
        dtype=binding.dtype,
        shape=binding.shape,
        strides=tuple(stride // binding.dtype.size_bytes for stride in location.strides),
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
    size, _ = scratch_bytes(tiling.kernel, tiling.site, tiling.nest.access, extents, share.cores)
    own = FunctionCall("tw_rt_core") * size if share.loop else Number(0)
    operands.given["scratch"] = scratch_operand("scratch", size)
    operands.declared.append(pointer_to(place.address + own, "scratch", DType.U8, written=True))
    operands.bases.append(place.parameter)
    operands.writes.append(ByteRange(buffer=buffer.name, offset_bytes=0, size_bytes=buffer.size_bytes))


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
