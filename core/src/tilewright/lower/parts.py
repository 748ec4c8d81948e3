"""Knows the functions of one tiled step: the box of a tile, its transfers, and its computation.
Does not know in which order they are called (`pipeline`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tilewright.bind.work import operations
from tilewright.c_text.rendering import render_call, render_source, render_wait
from tilewright.ir.dtypes import DType
from tilewright.ir.kernel import Call, Operand
from tilewright.ir.platform import CopyPath
from tilewright.ir.program import Parameter, Part
from tilewright.ir.statements import (
    ByteRange,
    Charge,
    Declare,
    If,
    KernelCall,
    KernelWait,
    PartCall,
    Statement,
    statements_in,
)
from tilewright.lower.boxes import CBox, CSpan, lows, whole_box, window
from tilewright.lower.core_share import CoreShare, core_share
from tilewright.lower.nest import HopLevel, extents_of
from tilewright.lower.operand_bindings import OperandBinding
from tilewright.lower.rolling import NEW, rolling_window
from tilewright.lower.sums import Sum
from tilewright.lower.tile_buffers import OperandLocation, TileBuffers, TiledStep, extent_ranges, unsupported_tile
from tilewright.lower.transfers import CopyEnd, window_copy
from tilewright.lower.transfers import extents_of as copy_extents
from tilewright.tile.boxes import new_rows
from tilewright.tile.footprint import SUMS
from tilewright.tile.kernel_costs import kernel_cycles, scratch_bytes
from tilewright.tile.transfers import lattice

SLOT = Parameter(type="tw_slot *", name="slot", argument="slot")


def call_part(part: Part, given: Mapping[str, str], tile: str = "0") -> PartCall:
    """A call from a function that has variables of the same names, but for those in `given`."""
    arguments = tuple(given.get(one.name, one.name) for one in part.parameters)
    return PartCall(role=part.role, function=part.function, arguments=arguments, tile=tile)


def move_part(tiling: TiledStep, at: int, slot: TileBuffers) -> Part:
    """Starts the transfers of one operand's window, or of what is new of it."""
    level, binding = tiling.nest.levels[at], slot.binding
    box = level.around(slot.copy.level)
    far, near = tiling.held(binding, at), tiling.held(binding, at + 1)
    spans = (
        whole_spans(binding.shape)
        if slot.whole
        else window(tiling.nest.access, binding.operand, box, span_names(tiling, binding))
    )
    rolling = rolling_window(tiling, level, slot, spans) if slot.roll else None
    moved = rolling.new if rolling else spans
    target = (
        _from(near, _distance(tiling, binding, moved, box, near, slot.whole)) if rolling or slot.borrowed else Sum()
    )
    inner: tuple[Statement, ...] = (
        Declare(
            type="const uint8_t *const" if not binding.written else "uint8_t *const",
            name="far",
            value=_moved(far, _distance(tiling, binding, moved, box, far, slot.whole)),
        ),
        *_copy(tiling, at, slot, (far, near), moved, target),
    )
    if rolling:
        inner = (*declared(rolling.declared, inner), *inner)
    body = (*boxes_declared(tiling, level, inner, spans), *spans_declared(spans, inner), *inner)
    role = "store" if binding.written else "fetch"
    verb = "Takes" if binding.written else "Brings"
    where = f"{'to' if binding.written else 'from'} {far.memory}"
    what = "what is new of " if slot.roll else ""
    return Part(
        role="store" if binding.written else "fetch",
        function=named(tiling, f"{role}_{tiling.names[binding.operand]}", level),
        comment=(f"{verb} {what}{binding.operand}{'' if slot.resident else f' of tile {level.counter}'} {where}.",),
        parameters=(*used(scope(tiling, level, (far.parameter,)), body), SLOT),
        body=body,
    )


def whole_spans(shape: Sequence[int]) -> tuple[CSpan, ...]:
    """All of a value."""
    return tuple(CSpan(low=Sum(), extent=Sum(extent), before=Sum(), after=Sum()) for extent in shape)


def compute_part(tiling: TiledStep) -> tuple[Part, str]:
    """This core's share of the innermost tile, and the C at file scope that its kernel needs."""
    nest, kernel = tiling.nest, tiling.kernel
    level = nest.levels[-1] if nest.levels else None
    share = core_share(tiling)
    box = share.box
    held = {binding.operand: tiling.held(binding, len(nest.levels)) for binding in tiling.bindings}
    spans = {
        binding.operand: window(nest.access, binding.operand, box, span_names(tiling, binding))
        for binding in tiling.bindings
    }
    operands = {
        binding.operand: _operand(tiling, binding, held[binding.operand], spans[binding.operand], box)
        for binding in tiling.bindings
    }
    scratch, sums = _scratch(tiling, share), tiling.sums
    kept = sums.held.ranges if sums else ()
    call = Call(
        site=tiling.site,
        operands={**operands, **_sums(tiling, spans, box), "scratch": scratch[0]},
        extents={loop: str(high - low) for loop, (low, high) in box.items()},
        name=tiling.function,
        first=sums.first if sums else "",
        last=sums.last if sums else "",
    )
    wait = render_wait(kernel, call)
    core: tuple[Statement, ...] = (
        KernelCall(
            kernel=kernel.name,
            text=render_call(kernel, call),
            reads=(
                *(one for binding in tiling.bindings if not binding.written for one in held[binding.operand].ranges),
                *kept,
            ),
            writes=(
                *(one for binding in tiling.bindings if binding.written for one in held[binding.operand].ranges),
                *kept,
                *scratch[1],
            ),
        ),
        *([KernelWait(kernel=kernel.name, text=wait)] if wait else []),
        _charge(tiling, share),
    )
    every = [span for one in spans.values() for span in one]
    mine: tuple[Statement, ...] = (If(condition=share.condition, body=(*spans_declared(every, core), *core)),)
    mine = (*share.declared, *mine)
    body = (*(boxes_declared(tiling, level, mine, ()) if level else ()), *mine)
    bases = [one.parameter for one in held.values()]
    if scratch[1]:
        bases.append(tiling.book.of_buffer(tiling.scratch).parameter)
    if sums:
        bases.append(sums.held.parameter)
    about = f" of tile {level.counter}" if level and level.moving else ""
    part = Part(
        role="compute",
        function=named(tiling, "compute", None),
        comment=(share.comment + about + ".",),
        parameters=used(scope(tiling, level, bases), body),
        body=body,
    )
    return part, render_source(kernel, call)


def called(parts: Sequence[Part], body: Sequence[Statement]) -> tuple[Part, ...]:
    """The parts without the boxes that nothing asks for."""
    text = " ".join((*_texts(body), *(piece for part in parts for piece in _texts(part.body))))
    return tuple(part for part in parts if part.role != "box" or names_in(text, part.function))


def declared(statements: Iterable[Statement], body: Sequence[Statement]) -> tuple[Statement, ...]:
    """Those declarations that `body` names, or a later one of them."""
    text = " ".join(_texts(body))
    kept: list[Statement] = []
    for one in reversed(tuple(statements)):
        if isinstance(one, Declare):
            if not names_in(text, one.name.partition("[")[0]):
                continue
            text += f" {one.value}"
        kept.append(one)
    return tuple(reversed(kept))


def used(parameters: Iterable[Parameter], body: Sequence[Statement]) -> tuple[Parameter, ...]:
    """Those of `parameters` that the statements name, each once."""
    text = " ".join(_texts(body))
    names = {one.name: one for one in parameters}
    return tuple(one for name, one in names.items() if names_in(text, name))


def path_of(tiling: TiledStep, slot: TileBuffers, far: OperandLocation) -> CopyPath:
    """The copy path that the operand takes. TilewrightError TW4041 where there is none."""
    ends = (far.memory, slot.level.hop.near)
    ends = ends[::-1] if slot.binding.written else ends
    for path in tiling.platform.copies:
        if (path.source, path.target) == ends:
            return path
    raise unsupported_tile(tiling.step, f"target '{tiling.platform.name}' has no copy from {ends[0]} to {ends[1]}")


def scope(tiling: TiledStep, level: HopLevel | None, bases: Iterable[Parameter]) -> list[Parameter]:
    """What a part may name: boxes of the levels outside its own, its tile, addresses."""
    struct, levels = tiling.nest.struct, tiling.nest.levels
    outside = levels[: levels.index(level)] if level else ()
    outer = [Parameter(type=struct, name=one.variable, argument=one.variable) for one in outside]
    return [*outer, *([_counter(level)] if level and level.moving else []), *bases]


def _counter(level: HopLevel) -> Parameter:
    return Parameter(type="int32_t", name=level.counter, argument=level.counter)


def named(tiling: TiledStep, what: str, level: HopLevel | None) -> str:
    single = level is None or len(tiling.nest.levels) == 1
    return f"{tiling.function}_{what}" if single or level is None else f"{tiling.function}_{what}_{level.hop.near}"


def boxes_declared(
    tiling: TiledStep, level: HopLevel, body: Sequence[Statement], spans: Sequence[CSpan]
) -> tuple[Statement, ...]:
    """The declaration of the level's own box, where anything names it."""
    text = " ".join((*_texts(body), *(span.value for span in spans)))
    if not level.moving or not names_in(text, level.variable):
        return ()
    return (tiling.box.declare(tiling.box.levels[tiling.nest.levels.index(level)]),)


def spans_declared(spans: Sequence[CSpan], body: Sequence[Statement]) -> tuple[Statement, ...]:
    """Those of the windows' axes that the statements name."""
    text = " ".join(_texts(body))
    return tuple(
        Declare(type="const tw_span", name=span.name, value=span.value)
        for span in spans
        if span.name and names_in(text, span.name)
    )


def _copy(
    tiling: TiledStep,
    at: int,
    slot: TileBuffers,
    ends: tuple[OperandLocation, OperandLocation],
    spans: Sequence[CSpan],
    target: Sum,
) -> tuple[Statement, ...]:
    binding, item, (far, near) = slot.binding, slot.binding.dtype.size_bytes, ends
    ranges = _copied_ranges(tiling, at, slot)
    pointer = "slot->bytes" if target == Sum() else f"slot->bytes + {target}"
    here = CopyEnd(pointer=pointer, strides=near.strides, regions=near.ranges)
    there = CopyEnd(pointer="far", strides=far.strides, regions=far.ranges)
    whole = tiling.nest.access.window(binding.operand, whole_box(tiling.nest.access))
    steps = (1,) * len(binding.shape) if slot.whole else lattice(whole, binding.shape, binding.layout, item)
    here, there = here.every(steps), there.every(steps)
    sides = (here, there) if binding.written else (there, here)
    path = path_of(tiling, slot, far)
    return window_copy(*sides, copy_extents(spans, ranges, steps), item, path, slot="slot", name=slot.name)


def _copied_ranges(tiling: TiledStep, at: int, slot: TileBuffers) -> tuple[tuple[int, int], ...]:
    """The least and most positions along each axis that are copied at once."""
    if slot.whole:
        return tuple((extent, extent) for extent in slot.binding.shape)
    ranges = extent_ranges(tiling.nest, slot.binding, tiling.nest.levels[at].ranges_around(slot.copy.level))
    if slot.roll is None:
        return ranges
    boxes, roll = tiling.box.boxes, slot.roll
    windows = boxes.windows(tiling.number, slot.binding.operand, boxes.starts[at] + slot.copy.level)
    low, high = new_rows(windows[roll.axis], roll.loop)
    new = int((high - low).min()), int((high - low).max())
    return tuple(new if axis == roll.axis else one for axis, one in enumerate(ranges))


def _distance(
    tiling: TiledStep,
    binding: OperandBinding,
    spans: Sequence[CSpan],
    box: CBox,
    held: OperandLocation,
    whole: bool = False,
) -> Sum:
    """Bytes from the element that `held` begins with to the first of the window over `box`."""
    total = Sum(held.offset_bytes)
    own = (Sum(),) * len(spans) if whole else lows(tiling.nest.access, binding.operand, box)
    for span, low, origin, stride in zip(spans, own, held.origin, held.strides, strict=True):
        if low != origin or span.name.endswith(NEW):
            total = total + (span.low - origin) * stride
    return total


def _from(held: OperandLocation, distance: Sum) -> Sum:
    """The same from the first byte of the buffer that `held` is in, wherever it is."""
    return distance - held.offset_bytes


def _moved(held: OperandLocation, distance: Sum) -> str:
    return held.parameter.name if distance == Sum() else f"{held.parameter.name} + {distance}"


def _operand(
    tiling: TiledStep, binding: OperandBinding, held: OperandLocation, spans: Sequence[CSpan], box: CBox
) -> Operand:
    address = _moved(held, _distance(tiling, binding, spans, box, held))
    address = f"({address})" if " " in address else address
    return Operand(
        name=binding.operand,
        pointer=f"({'' if binding.written else 'const '}{binding.dtype.c_type} *){address}",
        dtype=binding.dtype,
        shape=binding.shape,
        strides=tuple(stride // binding.dtype.size_bytes for stride in held.strides),
        extents=tuple(str(span.extent) for span in spans),
        origin=tuple(str(span.low) for span in spans),
        before=tuple(str(span.before) for span in spans),
        after=tuple(str(span.after) for span in spans),
    )


def _sums(tiling: TiledStep, spans: Mapping[str, Sequence[CSpan]], box: CBox) -> dict[str, Operand]:
    """The operand that has the sums of this core's share, where a reduction is cut."""
    if tiling.sums is None:
        return {}
    output = next(binding for binding in tiling.bindings if binding.operand == tiling.sums.output)
    like = replace(output, dtype=tiling.sums.dtype)
    return {SUMS: replace(_operand(tiling, like, tiling.sums.held, spans[output.operand], box), name=SUMS)}


def _scratch(tiling: TiledStep, share: CoreShare) -> tuple[Operand, tuple[ByteRange, ...]]:
    """This core's part of the step's scratch."""
    buffer = tiling.book.buffers.get(tiling.scratch)
    pointer, size = "(uint8_t *)0", 0
    regions: tuple[ByteRange, ...] = ()
    if buffer is not None:
        place = tiling.book.of_buffer(buffer.name)
        extents = extents_of(tiling.nest.ranges)
        size, _ = scratch_bytes(tiling.kernel, tiling.site, tiling.nest.access, extents, share.cores)
        pointer = place.pointer("uint8_t", const=False)
        if share.loop:
            pointer = f"({pointer} + tw_rt_core() * {size}u)"
        regions = (ByteRange(buffer=buffer.name, offset_bytes=0, size_bytes=buffer.size_bytes),)
    operand = Operand(
        name="scratch", pointer=pointer, dtype=DType.U8, shape=(size,), strides=(1,),
        extents=(str(size),), origin=("0",), before=("0",), after=("0",),
    )  # fmt: skip
    return operand, regions


def _charge(tiling: TiledStep, share: CoreShare) -> Charge:
    """The estimate for the largest share, in proportion."""
    extents = extents_of(tiling.nest.ranges)
    work = operations(tiling.kernel, tiling.operator, tiling.site, tiling.platform, share.engine)
    cycles = round(kernel_cycles(tiling.kernel, tiling.site, tiling.nest.access, work, extents, share.engine))
    varying = {loop: high - low for loop, (low, high) in share.box.items() if (high - low).number is None}
    if not varying:
        return Charge(text=f"tw_rt_charge({cycles}u);")
    whole = 1
    for loop in varying:
        whole *= min(extents[loop], share.trips) if loop == share.loop else extents[loop]
    part = " * ".join(length.primary() for length in varying.values())
    return Charge(text=f"tw_charge({cycles}u, {part}, {whole});")


def span_names(tiling: TiledStep, binding: OperandBinding) -> list[str]:
    stem = tiling.names[binding.operand]
    return [f"{stem}_{axis}" for axis in range(len(binding.shape))]


def _texts(body: Sequence[Statement]) -> Iterable[str]:
    """Every piece of C in the statements."""
    for statement in statements_in(tuple(body)):
        match statement:
            case Declare(value=value):
                yield value
            case If(condition=condition):
                yield condition
            case PartCall(arguments=arguments):
                yield " ".join(arguments)
            case _:
                for name in ("text", "start", "stop"):
                    yield str(getattr(statement, name, ""))


def names_in(text: str, name: str) -> bool:
    return re.search(rf"(?<![.\w>]){re.escape(name)}\b", text) is not None
