"""Knows how the window of an operand is copied between two memories: runs, rows, and loops around them.
Does not know when it is copied, nor into which of several buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tilewright.ir.machines.platform import CopyPath
from tilewright.ir.programs.expressions import ALWAYS, Expression, FunctionCall, Name, Number, all_of, operation
from tilewright.ir.programs.statements import ByteRange, CopyStart, For, If, Statement
from tilewright.ir.rounding import align_down, align_up, ceil_div
from tilewright.lower.operands.c_boxes import CSpan
from tilewright.tile.memory_path import takes_planes

TRANSFER, PLANES = "tw_transfer", "tw_transfer_3d"
LOOPS = "ijklmnuv"  # variables, outermost first; tensors have at most 8 axes


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyEnd:
    """One end of a copy: a pointer to its first byte, bytes between neighbours along each axis, and its buffers."""

    pointer: Expression
    strides: tuple[int, ...]
    regions: tuple[ByteRange, ...]

    def every(self, steps: Sequence[int]) -> CopyEnd:
        """The same bytes of a strided access: along each axis only every `steps`-th position."""
        strides = tuple(stride * step for stride, step in zip(self.strides, steps, strict=True))
        return self if strides == self.strides else replace(self, strides=strides)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How long one axis of the window is, and the least and most it can be."""

    value: Expression
    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Walk:
    """One loop over the window, neighbours joined where neither side has a gap. Strides are bytes."""

    extent: Extent
    source: int
    target: int


def extents_of(spans: Sequence[CSpan], ranges: Sequence[tuple[int, int]], steps: Sequence[int]) -> tuple[Extent, ...]:
    """`ranges`: the least and most of each axis; an axis that cannot vary is a number. `steps`: see `CopyEnd.every`."""
    extents = []
    for span, (least, most), step in zip(spans, ranges, steps, strict=True):
        fewest, largest = ceil_div(least, step), ceil_div(most, step)
        moving = span.extent if step == 1 else FunctionCall("tw_steps", (span.extent, Number(step)))
        extents.append(Extent(value=Number(fewest) if fewest == largest else moving, least=fewest, most=largest))
    return tuple(extents)


def window_copy(
    source: CopyEnd,
    target: CopyEnd,
    extents: Sequence[Extent],
    item_bytes: int,
    path: CopyPath,
    *,
    slot: Expression,
    name: str,
) -> tuple[Statement, ...]:
    """Copy `extents` elements from `source` to `target`; `slot` is the pointer that remembers the transfers."""
    if any(extent.most == 0 for extent in extents):
        return ()
    loops = _walks(source, target, extents)
    run = _one(item_bytes)
    if loops and loops[-1].source == loops[-1].target == item_bytes:
        run = loops.pop()
    rows = loops.pop() if path.dimensions > 1 and loops else _one(0)
    most = align_up(run.extent.most * item_bytes, path.align) * rows.extent.most
    if loops and takes_planes(path, most * loops[-1].extent.most):
        planes = loops.pop()
        body = _planes(source, target, (run, rows, planes), item_bytes, loops, path, slot, name)
    else:
        body = _limited(source, target, run, rows, item_bytes, loops, path, slot, name)
    for number, loop in reversed(list(enumerate(loops))):
        body = (_loop(_index(number), loop.extent.value, 1, body),)
    filled = all_of(*(operation(">", extent.value, 0) for extent in extents if extent.least == 0))
    return body if filled == ALWAYS else (If(condition=filled, body=body),)


def _loop(index: Name, stop: Expression, step: int, body: tuple[Statement, ...]) -> For:
    return For(variable=index.text, start=Number(0), stop=stop, step=Number(step), body=body)


def _one(stride: int) -> _Walk:
    return _Walk(extent=Extent(value=Number(1), least=1, most=1), source=stride, target=stride)


def _walks(source: CopyEnd, target: CopyEnd, extents: Sequence[Extent]) -> list[_Walk]:
    """Outermost first, in the order of the denser side."""
    walks: list[_Walk] = []
    order = sorted(range(len(extents)), key=lambda axis: (-target.strides[axis], -source.strides[axis]))
    for axis in order:
        extent, here, there = extents[axis], source.strides[axis], target.strides[axis]
        if extent.least == extent.most == 1:
            continue
        outer = walks[-1] if walks else None
        length = extent.value.number
        if outer and length is not None and (outer.source, outer.target) == (here * length, there * length):
            joined = Extent(
                value=outer.extent.value * length, least=outer.extent.least * length, most=outer.extent.most * length
            )
            walks[-1] = _Walk(extent=joined, source=here, target=there)
        else:
            walks.append(_Walk(extent=extent, source=here, target=there))
    return walks


def _limited(
    source: CopyEnd,
    target: CopyEnd,
    run: _Walk,
    rows: _Walk,
    item_bytes: int,
    loops: Sequence[_Walk],
    path: CopyPath,
    slot: Expression,
    name: str,
) -> tuple[Statement, ...]:
    """The innermost statements: one transfer, or a loop over the parts of one that is too long for the path."""
    run_bytes, run_most = _padded(run, item_bytes, path), align_up(run.extent.most * item_bytes, path.align)
    here, there = _moved(source.pointer, loops, source=True), _moved(target.pointer, loops, source=False)
    if path.max_bytes is None or run_most * rows.extent.most <= path.max_bytes:
        return _transfer(source, target, (there, here), (run_bytes, rows.extent.value), rows, slot, name)
    if run_most > path.max_bytes:
        return _long_runs(source, target, run_bytes, run_most, rows, loops, path, slot, name)
    index, step = _index(len(loops)), path.max_bytes // run_most
    ends = there + index * rows.target, here + index * rows.source
    part = _part(index, rows.extent.value, step)
    body = _transfer(source, target, ends, (run_bytes, part), rows, slot, name)
    return (_loop(index, rows.extent.value, step, body),)


def _planes(
    source: CopyEnd,
    target: CopyEnd,
    walks: tuple[_Walk, _Walk, _Walk],
    item_bytes: int,
    loops: Sequence[_Walk],
    path: CopyPath,
    slot: Expression,
    name: str,
) -> tuple[Statement, ...]:
    """One transfer of runs, rows and planes."""
    run, rows, planes = walks
    ends = _moved(target.pointer, loops, source=False), _moved(source.pointer, loops, source=True)
    sizes = _padded(run, item_bytes, path), rows.extent.value, planes.extent.value
    strides = map(Number, (rows.target, rows.source, planes.target, planes.source))
    return (_started(source, target, FunctionCall(PLANES, (slot, *ends, *sizes, *strides)), name),)


def _padded(run: _Walk, item_bytes: int, path: CopyPath) -> Expression:
    """Bytes of a run, up to a multiple of what the path moves."""
    size = run.extent.value * item_bytes
    if path.align == 1:
        return size
    if size.number is not None:
        return Number(align_up(size.number, path.align))
    return FunctionCall("tw_padded", (size, Number(path.align)))


def _long_runs(
    source: CopyEnd,
    target: CopyEnd,
    run_bytes: Expression,
    run_most: int,
    rows: _Walk,
    loops: Sequence[_Walk],
    path: CopyPath,
    slot: Expression,
    name: str,
) -> tuple[Statement, ...]:
    """Rows that are too long: each in pieces of its own."""
    row, piece = _index(len(loops)), _index(len(loops) + 1)
    most = align_down(path.max_bytes or run_most, path.align)
    here = _moved(source.pointer, loops, source=True) + row * rows.source + piece
    there = _moved(target.pointer, loops, source=False) + row * rows.target + piece
    single = _one(0)
    body = _transfer(source, target, (there, here), (_part(piece, run_bytes, most), Number(1)), single, slot, name)
    return (_loop(row, rows.extent.value, 1, (_loop(piece, run_bytes, most, body),)),)


def _transfer(
    source: CopyEnd,
    target: CopyEnd,
    ends: tuple[Expression, Expression],
    size: tuple[Expression, Expression],
    rows: _Walk,
    slot: Expression,
    name: str,
) -> tuple[Statement, ...]:
    strides = (rows.target, rows.source) if size[1].number != 1 else (0, 0)
    return (_started(source, target, FunctionCall(TRANSFER, (slot, *ends, *size, *map(Number, strides))), name),)


def _started(source: CopyEnd, target: CopyEnd, code: Expression, name: str) -> Statement:
    return CopyStart(
        transfer=name,
        code=code,
        source=source.regions[0],
        target=target.regions[0],
        more_sources=source.regions[1:],
        more_targets=target.regions[1:],
    )


def _part(index: Expression, end: Expression, step: int) -> Expression:
    """What is left from `index` on, `step` at most."""
    return FunctionCall("tw_least", (end - index, Number(step)))


def _moved(pointer: Expression, loops: Sequence[_Walk], *, source: bool) -> Expression:
    moves = [loop.source if source else loop.target for loop in loops]
    return sum((_index(number) * stride for number, stride in enumerate(moves)), start=pointer)


def _index(number: int) -> Name:
    return Name(LOOPS[number])
