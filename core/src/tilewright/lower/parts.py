"""Knows the functions of one tiled step: the box of a tile, its transfers, and its computation.
Does not know in which order they are called (`pipeline`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tilewright.dtypes import DType
from tilewright.kernel import Call, Operand
from tilewright.lower.bonds import Bond
from tilewright.lower.boxes import CBox, CSpan, lows, whole_box, window
from tilewright.lower.nest import Level, box_value, extents_of
from tilewright.lower.slots import Held, Slot, Tiling, extent_ranges, unsupported_tile
from tilewright.lower.split import Portion, portion
from tilewright.lower.sums import Sum
from tilewright.lower.transfers import Side, window_copy
from tilewright.lower.transfers import extents_of as copy_extents
from tilewright.platform import CopyPath
from tilewright.program import Parameter, Part
from tilewright.rendering import render_call, render_source, render_wait
from tilewright.statements import Charge, Declare, If, KernelCall, KernelWait, PartCall, Region, Statement, walk
from tilewright.tile.cost import kernel_cycles, scratch_bytes
from tilewright.tile.sums import SUMS
from tilewright.tile.transfers import lattice
from tilewright.work import operations

SLOT = Parameter(type="tw_slot *", name="slot", argument="slot")


def call_part(part: Part, given: Mapping[str, str], tile: str = "0") -> PartCall:
    """A call from a function that has variables of the same names, but for those in `given`."""
    arguments = tuple(given.get(one.name, one.name) for one in part.parameters)
    return PartCall(role=part.role, function=part.function, arguments=arguments, tile=tile)


def box_part(tiling: Tiling, level: Level) -> Part:
    """Tile number -> box, inside the box of the level before."""
    nest = tiling.nest
    tiles, values = box_value(nest, level)
    text = ", ".join(f".{member} = {value}" for member, value in values.items())
    body: tuple[Statement, ...] = (
        *(Declare(type="const int32_t", name=name, value=value) for name, value in tiles.items() if _names(text, name)),
        Declare(type=f"const {nest.struct}", name="box", value=f"{{{text}}}"),
    )
    outside = nest.levels[: nest.levels.index(level)]
    outer = [Parameter(type=nest.struct, name=one.variable, argument=one.variable) for one in outside]
    return Part(
        role="box",
        function=_named(tiling, "tile", level),
        comment=(f"The trips of tile {level.counter}.",),
        parameters=(*used(outer, body), _counter(level)),
        body=body,
        type=nest.struct,
        result="box",
    )


def move_part(tiling: Tiling, level: Level, slot: Slot) -> Part:
    """Starts the transfers of one operand's window."""
    bond, number = slot.bond, tiling.nest.levels.index(level)
    box = level.around(slot.copy.depth)
    far = tiling.held(bond, number)
    spans = window(tiling.nest.access, bond.operand, box, _span_names(tiling, bond))
    copied = _copy(tiling, slot, far, spans, box, path_of(tiling, slot, far))
    base = "const uint8_t *const" if not bond.written else "uint8_t *const"
    inner: tuple[Statement, ...] = (
        Declare(type=base, name="far", value=_moved(far, _distance(tiling, bond, spans, box, far))),
        *copied,
    )
    body = (*_boxes(tiling, level, inner, spans), *_spans(spans, inner), *inner)
    role = "store" if bond.written else "fetch"
    verb = "Takes" if bond.written else "Brings"
    where = f"{'to' if bond.written else 'from'} {far.memory}"
    return Part(
        role="store" if bond.written else "fetch",
        function=_named(tiling, f"{role}_{tiling.names[bond.operand]}", level),
        comment=(f"{verb} {bond.operand}{'' if slot.resident else f' of tile {level.counter}'} {where}.",),
        parameters=(*used(_scope(tiling, level, (far.parameter,)), body), SLOT),
        body=body,
    )


def compute_part(tiling: Tiling) -> tuple[Part, str]:
    """This core's share of the innermost tile, and the C at file scope that its kernel needs."""
    nest, kernel = tiling.nest, tiling.kernel
    level = nest.levels[-1] if nest.levels else None
    share = portion(tiling)
    box = share.box
    held = {bond.operand: tiling.held(bond, len(nest.levels)) for bond in tiling.bonds}
    spans = {bond.operand: window(nest.access, bond.operand, box, _span_names(tiling, bond)) for bond in tiling.bonds}
    operands = {
        bond.operand: _operand(tiling, bond, held[bond.operand], spans[bond.operand], box) for bond in tiling.bonds
    }
    scratch, sums = _scratch(tiling, share), tiling.sums
    kept = sums.held.regions if sums else ()
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
                *(region for bond in tiling.bonds if not bond.written for region in held[bond.operand].regions),
                *kept,
            ),
            writes=(
                *(region for bond in tiling.bonds if bond.written for region in held[bond.operand].regions),
                *kept,
                *scratch[1],
            ),
        ),
        *([KernelWait(kernel=kernel.name, text=wait)] if wait else []),
        _charge(tiling, share),
    )
    every = [span for one in spans.values() for span in one]
    mine: tuple[Statement, ...] = (If(condition=share.condition, body=(*_spans(every, core), *core)),)
    mine = (*share.declared, *mine)
    body = (*(_boxes(tiling, level, mine, ()) if level else ()), *mine)
    bases = [one.parameter for one in held.values()]
    if scratch[1]:
        bases.append(tiling.book.of_buffer(tiling.scratch).parameter)
    if sums:
        bases.append(sums.held.parameter)
    about = f" of tile {level.counter}" if level and level.moving else ""
    part = Part(
        role="compute",
        function=_named(tiling, "compute", None),
        comment=(share.comment + about + ".",),
        parameters=used(_scope(tiling, level, bases), body),
        body=body,
    )
    return part, render_source(kernel, call)


def called(parts: Sequence[Part], body: Sequence[Statement]) -> tuple[Part, ...]:
    """The parts without the boxes that nothing asks for."""
    text = " ".join((*_texts(body), *(piece for part in parts for piece in _texts(part.body))))
    return tuple(part for part in parts if part.role != "box" or _names(text, part.function))


def declared(statements: Iterable[Statement], body: Sequence[Statement]) -> tuple[Statement, ...]:
    """Those declarations that `body` names, or a later one of them."""
    text = " ".join(_texts(body))
    kept: list[Statement] = []
    for one in reversed(tuple(statements)):
        if isinstance(one, Declare):
            if not _names(text, one.name.partition("[")[0]):
                continue
            text += f" {one.value}"
        kept.append(one)
    return tuple(reversed(kept))


def used(parameters: Iterable[Parameter], body: Sequence[Statement]) -> tuple[Parameter, ...]:
    """Those of `parameters` that the statements name, each once."""
    text = " ".join(_texts(body))
    names = {one.name: one for one in parameters}
    return tuple(one for name, one in names.items() if _names(text, name))


def path_of(tiling: Tiling, slot: Slot, far: Held) -> CopyPath:
    """The copy path that the operand takes. TilewrightError TW4041 where there is none."""
    ends = (far.memory, slot.level.hop.near)
    ends = ends[::-1] if slot.bond.written else ends
    for path in tiling.platform.copies:
        if (path.source, path.target) == ends:
            return path
    raise unsupported_tile(tiling.step, f"target '{tiling.platform.name}' has no copy from {ends[0]} to {ends[1]}")


def _scope(tiling: Tiling, level: Level | None, bases: Iterable[Parameter]) -> list[Parameter]:
    """What a part may name: boxes of the levels outside its own, its tile, addresses."""
    struct, levels = tiling.nest.struct, tiling.nest.levels
    outside = levels[: levels.index(level)] if level else ()
    outer = [Parameter(type=struct, name=one.variable, argument=one.variable) for one in outside]
    return [*outer, *([_counter(level)] if level and level.moving else []), *bases]


def _counter(level: Level) -> Parameter:
    return Parameter(type="int32_t", name=level.counter, argument=level.counter)


def _named(tiling: Tiling, what: str, level: Level | None) -> str:
    single = level is None or len(tiling.nest.levels) == 1
    return f"{tiling.function}_{what}" if single or level is None else f"{tiling.function}_{what}_{level.hop.near}"


def box_call(tiling: Tiling, level: Level) -> str:
    """The expression for the box of tile `counter`."""
    if tiling.nest.function:
        return f"{tiling.nest.function}({level.counter})"
    part = box_part(tiling, level)
    return f"{part.function}({', '.join(one.name for one in part.parameters)})"


def _boxes(tiling: Tiling, level: Level, body: Sequence[Statement], spans: Sequence[CSpan]) -> tuple[Statement, ...]:
    """The declaration of the level's own box, where anything names it."""
    text = " ".join((*_texts(body), *(span.value for span in spans)))
    if not level.moving or not _names(text, level.variable):
        return ()
    return (Declare(type=f"const {tiling.nest.struct}", name=level.variable, value=box_call(tiling, level)),)


def _spans(spans: Sequence[CSpan], body: Sequence[Statement]) -> tuple[Statement, ...]:
    text = " ".join(_texts(body))
    return tuple(
        Declare(type="const tw_span", name=span.name, value=span.value)
        for span in spans
        if span.name and _names(text, span.name)
    )


def _copy(
    tiling: Tiling, slot: Slot, far: Held, spans: Sequence[CSpan], box: CBox, path: CopyPath
) -> tuple[Statement, ...]:
    bond, item = slot.bond, slot.bond.dtype.size_bytes
    ranges = extent_ranges(tiling.nest, bond, slot.level.ranges_around(slot.copy.depth))
    near = tiling.held(bond, tiling.nest.levels.index(slot.level) + 1)
    here = Side(pointer="slot->bytes", strides=near.strides, regions=near.regions)
    there = Side(pointer="far", strides=far.strides, regions=far.regions)
    whole = tiling.nest.access.window(bond.operand, whole_box(tiling.nest.access))
    steps = lattice(whole, bond.shape, bond.layout, item)
    here, there = here.every(steps), there.every(steps)
    ends = (here, there) if bond.written else (there, here)
    return window_copy(*ends, copy_extents(spans, ranges, steps), item, path, slot="slot", name=slot.name)


def _distance(tiling: Tiling, bond: Bond, spans: Sequence[CSpan], box: CBox, held: Held) -> Sum:
    """Bytes from the element that `held` begins with to the first of the window over `box`."""
    total = Sum(held.offset_bytes)
    own = lows(tiling.nest.access, bond.operand, box)
    for span, low, origin, stride in zip(spans, own, held.origin, held.strides, strict=True):
        if low != origin:
            total = total + (span.low - origin) * stride
    return total


def _moved(held: Held, distance: Sum) -> str:
    return held.parameter.name if distance == Sum() else f"{held.parameter.name} + {distance}"


def _operand(tiling: Tiling, bond: Bond, held: Held, spans: Sequence[CSpan], box: CBox) -> Operand:
    address = _moved(held, _distance(tiling, bond, spans, box, held))
    address = f"({address})" if " " in address else address
    return Operand(
        name=bond.operand,
        pointer=f"({'' if bond.written else 'const '}{bond.dtype.c_type} *){address}",
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


def _scratch(tiling: Tiling, share: Portion) -> tuple[Operand, tuple[Region, ...]]:
    """This core's part of the step's scratch."""
    buffer = tiling.book.buffers.get(tiling.scratch)
    pointer, size = "(uint8_t *)0", 0
    regions: tuple[Region, ...] = ()
    if buffer is not None:
        place = tiling.book.of_buffer(buffer.name)
        extents = extents_of(tiling.nest.ranges)
        size, _ = scratch_bytes(tiling.kernel, tiling.site, tiling.nest.access, extents, share.cores)
        pointer = place.pointer("uint8_t", const=False)
        if share.loop:
            pointer = f"({pointer} + tw_rt_core() * {size}u)"
        regions = (Region(buffer=buffer.name, offset_bytes=0, size_bytes=buffer.size_bytes),)
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
        return Charge(text=f"tw_rt_charge({cycles}u);")
    whole = 1
    for loop in varying:
        whole *= min(extents[loop], share.trips) if loop == share.loop else extents[loop]
    part = " * ".join(length.primary() for length in varying.values())
    return Charge(text=f"tw_charge({cycles}u, {part}, {whole});")


def _span_names(tiling: Tiling, bond: Bond) -> list[str]:
    stem = tiling.names[bond.operand]
    return [f"{stem}_{axis}" for axis in range(len(bond.shape))]


def _texts(body: Sequence[Statement]) -> Iterable[str]:
    """Every piece of C in the statements."""
    for statement in walk(tuple(body)):
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


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<![.\w>]){re.escape(name)}\b", text) is not None
