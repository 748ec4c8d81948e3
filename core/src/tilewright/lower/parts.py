"""Knows the functions of one tiled step: the box of a tile, its transfers, and its computation.
Does not know in which order they are called (`pipeline`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tilewright.dtypes import DType
from tilewright.expressions import Call as CCall
from tilewright.expressions import Cast, Expression, Field, Name, Number, multiplied
from tilewright.kernel import Call, Operand
from tilewright.lower.bonds import Bond
from tilewright.lower.boxes import NOTHING, CBox, CSpan, lows, whole_box, window
from tilewright.lower.nest import Level, extents_of
from tilewright.lower.rolling import rolling_window
from tilewright.lower.scope import declared, names_of, spans_declared, used
from tilewright.lower.slots import Held, Slot, Tiling, extent_ranges, unsupported_tile
from tilewright.lower.split import Portion, portion
from tilewright.lower.transfers import Side, window_copy
from tilewright.lower.transfers import extents_of as copy_extents
from tilewright.platform import CopyPath
from tilewright.program import Parameter, Part
from tilewright.rendering import render_call, render_source, render_wait
from tilewright.statements import ByteRange, Charge, Declare, If, KernelCall, KernelWait, PartCall, Statement
from tilewright.tile.boxes import new_rows
from tilewright.tile.footprint import SUMS
from tilewright.tile.kernel_costs import kernel_cycles, scratch_bytes
from tilewright.tile.transfers import lattice
from tilewright.work import operations

SLOT = Parameter(type="tw_slot *", name="slot")


def call_part(part: Part, given: Mapping[str, Expression], tile: Expression = NOTHING) -> PartCall:
    """A call from a function that has variables of the same names, but for those in `given`."""
    arguments = tuple(given.get(one.name, one.variable) for one in part.parameters)
    return PartCall(role=part.role, function=part.function, arguments=arguments, tile=tile)


def move_part(tiling: Tiling, at: int, slot: Slot) -> Part:
    """Starts the transfers of one operand's window, or of what is new of it."""
    level, bond = tiling.nest.levels[at], slot.bond
    box = level.around(slot.copy.level)
    far, near = tiling.held(bond, at), tiling.held(bond, at + 1)
    spans = (
        whole_spans(bond.shape)
        if slot.whole
        else window(tiling.nest.access, bond.operand, box, span_names(tiling, bond))
    )
    rolling = rolling_window(tiling, level, slot, spans) if slot.roll else None
    moved = rolling.new if rolling else spans
    target = _distance(tiling, bond, moved, box, near, slot.whole) if rolling or slot.borrowed else NOTHING
    inner: tuple[Statement, ...] = (
        Declare(
            type="const uint8_t *const" if not bond.written else "uint8_t *const",
            name="far",
            value=far.address + _distance(tiling, bond, moved, box, far, slot.whole),
        ),
        *_copy(tiling, at, slot, (far, near), moved, target),
    )
    if rolling:
        inner = (*declared(rolling.declared, inner), *inner)
    body = (*boxes_declared(tiling, level, inner, spans), *spans_declared(spans, inner), *inner)
    role = "store" if bond.written else "fetch"
    verb = "Takes" if bond.written else "Brings"
    where = f"{'to' if bond.written else 'from'} {far.memory}"
    what = "what is new of " if slot.roll else ""
    return Part(
        role="store" if bond.written else "fetch",
        function=named(tiling, f"{role}_{tiling.names[bond.operand]}", level),
        comment=(f"{verb} {what}{bond.operand}{'' if slot.resident else f' of tile {level.counter}'} {where}.",),
        parameters=(*used(scope(tiling, level, (far.parameter,)), body), SLOT),
        body=body,
    )


def whole_spans(shape: Sequence[int]) -> tuple[CSpan, ...]:
    """All of a value."""
    return tuple(CSpan(low=NOTHING, extent=Number(extent)) for extent in shape)


def compute_part(tiling: Tiling) -> tuple[Part, str]:
    """This core's share of the innermost tile, and the C at file scope that its kernel needs."""
    nest, kernel = tiling.nest, tiling.kernel
    level = nest.levels[-1] if nest.levels else None
    share = portion(tiling)
    box = share.box
    held = {bond.operand: tiling.held(bond, len(nest.levels)) for bond in tiling.bonds}
    spans = {bond.operand: window(nest.access, bond.operand, box, span_names(tiling, bond)) for bond in tiling.bonds}
    operands = {
        bond.operand: _operand(tiling, bond, held[bond.operand], spans[bond.operand], box) for bond in tiling.bonds
    }
    scratch, sums = _scratch(tiling, share), tiling.sums
    kept = sums.held.ranges if sums else ()
    call = Call(
        site=tiling.site,
        operands={**operands, **_sums(tiling, spans, box), "scratch": scratch[0]},
        extents={loop: str(high - low) for loop, (low, high) in box.items()},
        name=tiling.function,
        first=str(sums.first) if sums else "",
        last=str(sums.last) if sums else "",
    )
    wait = render_wait(kernel, call)
    core: tuple[Statement, ...] = (
        KernelCall(
            kernel=kernel.name,
            code=render_call(kernel, call),
            reads=(
                *(one for bond in tiling.bonds if not bond.written for one in held[bond.operand].ranges),
                *kept,
            ),
            writes=(
                *(one for bond in tiling.bonds if bond.written for one in held[bond.operand].ranges),
                *kept,
                *scratch[1],
            ),
        ),
        *([KernelWait(kernel=kernel.name, code=wait)] if wait else []),
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
    tile = f" of tile {level.counter}" if level and level.moving else ""
    part = Part(
        role="compute",
        function=named(tiling, "compute", None),
        comment=(share.comment.format(tile=tile),),
        parameters=used(scope(tiling, level, bases), body),
        body=body,
    )
    return part, render_source(kernel, call)


def path_of(tiling: Tiling, slot: Slot, far: Held) -> CopyPath:
    """The copy path that the operand takes. TilewrightError TW4041 where there is none."""
    ends = (far.memory, slot.level.hop.near)
    ends = ends[::-1] if slot.bond.written else ends
    for path in tiling.platform.copies:
        if (path.source, path.target) == ends:
            return path
    raise unsupported_tile(tiling.step, f"target '{tiling.platform.name}' has no copy from {ends[0]} to {ends[1]}")


def scope(tiling: Tiling, level: Level | None, bases: Iterable[Parameter]) -> list[Parameter]:
    """What a part may name: boxes of the levels outside its own, its tile, addresses."""
    struct, levels = tiling.nest.struct, tiling.nest.levels
    outside = levels[: levels.index(level)] if level else ()
    outer = [Parameter(type=struct, name=one.variable) for one in outside]
    return [*outer, *([_counter(level)] if level and level.moving else []), *bases]


def _counter(level: Level) -> Parameter:
    return Parameter(type="int32_t", name=level.counter)


def named(tiling: Tiling, what: str, level: Level | None) -> str:
    single = level is None or len(tiling.nest.levels) == 1
    return f"{tiling.function}_{what}" if single or level is None else f"{tiling.function}_{what}_{level.hop.near}"


def boxes_declared(
    tiling: Tiling, level: Level, body: Sequence[Statement], spans: Sequence[CSpan]
) -> tuple[Statement, ...]:
    """The declaration of the level's own box, where anything names it."""
    windows = [Declare(type="const tw_span", name=span.name, value=span.value) for span in spans]
    if not level.moving or level.variable not in names_of([*body, *windows]):
        return ()
    return (tiling.box.declare(tiling.box.levels[tiling.nest.levels.index(level)]),)


def _copy(
    tiling: Tiling, at: int, slot: Slot, ends: tuple[Held, Held], spans: Sequence[CSpan], target: Expression
) -> tuple[Statement, ...]:
    bond, item, (far, near) = slot.bond, slot.bond.dtype.size_bytes, ends
    ranges = _copied_ranges(tiling, at, slot)
    pointer = Field(SLOT.variable, "bytes", arrow=True) + target
    here = Side(pointer=pointer, strides=near.strides, regions=near.ranges)
    there = Side(pointer=Name("far"), strides=far.strides, regions=far.ranges)
    whole = tiling.nest.access.window(bond.operand, whole_box(tiling.nest.access))
    steps = (1,) * len(bond.shape) if slot.whole else lattice(whole, bond.shape, bond.layout, item)
    here, there = here.every(steps), there.every(steps)
    sides = (here, there) if bond.written else (there, here)
    path = path_of(tiling, slot, far)
    return window_copy(*sides, copy_extents(spans, ranges, steps), item, path, slot=SLOT.variable, name=slot.name)


def _copied_ranges(tiling: Tiling, at: int, slot: Slot) -> tuple[tuple[int, int], ...]:
    """The least and most positions along each axis that are copied at once."""
    if slot.whole:
        return tuple((extent, extent) for extent in slot.bond.shape)
    ranges = extent_ranges(tiling.nest, slot.bond, tiling.nest.levels[at].ranges_around(slot.copy.level))
    if slot.roll is None:
        return ranges
    boxes, roll = tiling.box.boxes, slot.roll
    windows = boxes.windows(tiling.number, slot.bond.operand, boxes.starts[at] + slot.copy.level)
    low, high = new_rows(windows[roll.axis], roll.loop)
    new = int((high - low).min()), int((high - low).max())
    return tuple(new if axis == roll.axis else one for axis, one in enumerate(ranges))


def _distance(
    tiling: Tiling, bond: Bond, spans: Sequence[CSpan], box: CBox, held: Held, whole: bool = False
) -> Expression:
    """Bytes from the element that `held` begins with to the first of the window over `box`."""
    total: Expression = NOTHING
    own = (NOTHING,) * len(spans) if whole else lows(tiling.nest.access, bond.operand, box)
    for span, low, origin, stride in zip(spans, own, held.origin, held.strides, strict=True):
        if low != origin or span.moved:
            total = total + (span.low - origin) * stride
    return total


def _operand(tiling: Tiling, bond: Bond, held: Held, spans: Sequence[CSpan], box: CBox) -> Operand:
    address = held.address + _distance(tiling, bond, spans, box, held)
    return Operand(
        name=bond.operand,
        pointer=str(Cast(f"{'' if bond.written else 'const '}{bond.dtype.c_type} *", address)),
        dtype=bond.dtype,
        shape=bond.shape,
        strides=tuple(stride // bond.dtype.size_bytes for stride in held.strides),
        extents=tuple(str(span.extent) for span in spans),
        origin=tuple(str(span.low) for span in spans),
        before=tuple(str(span.before) for span in spans),
        after=tuple(str(span.after) for span in spans),
    )


def _sums(tiling: Tiling, spans: Mapping[str, Sequence[CSpan]], box: CBox) -> dict[str, Operand]:
    """The operand that has the sums of this core's share, where a reduction is cut."""
    if tiling.sums is None:
        return {}
    output = next(bond for bond in tiling.bonds if bond.operand == tiling.sums.output)
    like = replace(output, dtype=tiling.sums.dtype)
    return {SUMS: replace(_operand(tiling, like, tiling.sums.held, spans[output.operand], box), name=SUMS)}


def _scratch(tiling: Tiling, share: Portion) -> tuple[Operand, tuple[ByteRange, ...]]:
    """This core's part of the step's scratch."""
    buffer = tiling.book.buffers.get(tiling.scratch)
    pointer, size = "(uint8_t *)0", 0
    regions: tuple[ByteRange, ...] = ()
    if buffer is not None:
        place = tiling.book.of_buffer(buffer.name)
        extents = extents_of(tiling.nest.ranges)
        size, _ = scratch_bytes(tiling.kernel, tiling.site, tiling.nest.access, extents, share.cores)
        pointer = str(place.pointer("uint8_t", const=False))
        if share.loop:
            own = multiplied((CCall("tw_rt_core"), Number(size)))
            pointer = f"({pointer} + {own})"
        regions = (ByteRange(buffer=buffer.name, offset_bytes=0, size_bytes=buffer.size_bytes),)
    operand = Operand(
        name="scratch", pointer=pointer, dtype=DType.U8, shape=(size,), strides=(1,),
        extents=(str(size),), origin=("0",), before=("0",), after=("0",),
    )  # fmt: skip
    return operand, regions


def _charge(tiling: Tiling, share: Portion) -> Charge:
    """The estimate for the largest share, in proportion."""
    extents = extents_of(tiling.nest.ranges)
    work = operations(tiling.kernel, tiling.operator, tiling.site, tiling.platform, share.engine)
    cycles = round(kernel_cycles(tiling.kernel, tiling.site, tiling.nest.access, work, extents, share.engine))
    varying = {loop: high - low for loop, (low, high) in share.box.items() if (high - low).number is None}
    if not varying:
        return Charge(code=CCall("tw_rt_charge", (Number(cycles, unsigned=True),)))
    whole = 1
    for loop in varying:
        whole *= min(extents[loop], share.trips) if loop == share.loop else extents[loop]
    points = multiplied(varying.values())
    return Charge(code=CCall("tw_charge", (Number(cycles, unsigned=True), points, Number(whole))))


def span_names(tiling: Tiling, bond: Bond) -> list[str]:
    stem = tiling.names[bond.operand]
    return [f"{stem}_{axis}" for axis in range(len(bond.shape))]
