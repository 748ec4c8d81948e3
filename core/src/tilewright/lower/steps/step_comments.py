"""Knows the comment above a step's function: its nodes, its kernel, where every operand is, its tiles and their
buffers. Does not know the code below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from tilewright.c_text.identifiers import comment_text
from tilewright.ir.graphs.graph import Site
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Binding, Step
from tilewright.ir.programs.expressions import Expression
from tilewright.ir.tensors.layout import Layout, row_major, same_bytes
from tilewright.lower.operands.addresses import Address, AddressBook
from tilewright.lower.operands.operand_bindings import OperandBinding, scratch_name
from tilewright.lower.tiles.tile_nest import HopLevel
from tilewright.lower.tiles.tile_operands import TileBuffers, TiledStep
from tilewright.tile.cost.footprint import SUMS
from tilewright.tile.cost.job_overlap import jobs_overlap

MOST = 115  # characters of a line, in a comment

Row = tuple[str, str, str, str]  # operand, type, where, what


def step_comment(
    index: int,
    total: int,
    site: Site,
    node_binding: Binding,
    bindings: Sequence[OperandBinding],
    book: AddressBook,
    step: Step,
    *,
    buffers: Sequence[Row] = (),
    tiles: Sequence[str] = (),
) -> tuple[str, ...]:
    """`buffers` are rows about tile buffers, `tiles` lines about the tiles themselves."""
    first, *others = site.node.origin or (site.node.name,)
    nodes = f"{book.shown(first)} (+{len(others)})" if others else book.shown(first)
    rows = [
        _row(
            binding.operand,
            type_text(binding.dtype.value, binding.shape, binding.layout),
            binding.place,
            binding.region.size_bytes,
            book.shown(binding.what),
        )
        for binding in bindings
    ]
    if scratch_name(step) in book.buffers:
        size = book.buffers[scratch_name(step)].size_bytes
        rows.append(_row("scratch", f"u8[{size}]", book.of_buffer(scratch_name(step)), size, ""))
    rows.extend(buffers)
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return (
        f"Step {index} of {total}: {comment_text(site.node.op)}",
        *_filled((f"  nodes    {nodes}", f"  kernel   {comment_text(node_binding.kernel.name)}")),
        *_filled(f"  tiles    {line}" for line in tiles),
        *_filled(f"  {_line(row, widths)}" for row in rows),
    )


def _line(row: Row, widths: Sequence[int]) -> str:
    return "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3])).rstrip()


def _filled(lines: Iterable[str]) -> Iterable[str]:
    """What is too long goes on below what the line is about."""
    for line in lines:
        yield from wrap(line, MOST, subsequent_indent=" " * 11, break_on_hyphens=False) if len(line) > MOST else (line,)


def type_text(name: str, shape: Sequence[int], layout: Layout) -> str:
    """`i8[1,8,25,5] axes (0,2,3,1)`; the axes only where they are not in row-major order."""
    text = f"{name}[{','.join(map(str, shape))}]"
    return text if same_bytes(shape, layout, row_major(len(shape))) else f"{text} axes ({','.join(map(str, layout))})"


def _row(operand: str, kind: str, place: Address, size_bytes: int, what: str) -> Row:
    memory = place.parameter.name if place.where == "caller" else comment_text(place.where)
    where = f"{memory} [{place.offset_bytes}, {place.offset_bytes + size_bytes})"
    return operand.ljust(7), kind, where, what


def tile_lines(tilings: Sequence[TiledStep], number: int) -> list[str]:
    """Which steps are one region, and its tiles: `l1: h 4 x 8, o 2 x 16 (8)`, tiles of each loop and of all."""
    sink = tilings[-1]
    numbers = [str(member.index) for member in sink.box.analysis.members]
    if number + 1 < len(tilings):
        return [f"together with step {numbers[-1]}, whose function computes this one, too"]
    lines = [_tiles(level) for level in sink.nest.levels]
    if len(tilings) == 1:
        return lines
    beside = f", while the engine has the next tile of step {numbers[0]}" if jobs_overlap(sink.box.boxes) else ""
    return [*lines[:-1], f"{lines[-1]}, steps {', '.join(numbers)} together{beside}"]


def _tiles(level: HopLevel) -> str:
    cuts = [f"{comment_text(cut.loop)} {_count(cut.extent, 'n')} x {cut.size}" for cut in level.cuts]
    total = _count(level.total, "as many as there are")
    return f"{comment_text(level.hop.inner)}: {', '.join(cuts) or 'whole'} ({total})"


def _count(count: Expression, otherwise: str) -> str:
    return otherwise if count.number is None else str(count)


def buffer_rows(tiling: TiledStep, region: Region) -> Iterator[Row]:
    """Internal values, tile buffers, and sums."""
    for binding in tiling.bindings:
        if binding.operand in tiling.inner:
            location = tiling.inner[binding.operand]
            place, size = tiling.book.of_buffer(location.ranges[0].buffer), location.ranges[0].size_bytes
            number = next(
                at for at, member in enumerate(tiling.box.analysis.members) if member.output.value == binding.what
            )
            kind = type_text(binding.dtype.value, tiling.box.boxes.internal_rows(number), binding.layout)
            where = f"{comment_text(place.where)} [{place.offset_bytes}, {place.offset_bytes + size})"
            yield binding.operand.ljust(7), kind, where, f"held ({region.internal_values[binding.what].form})"
    yield from (_tile_buffer_row(slot, tiling) for slots in tiling.slots for slot in slots if not slot.borrowed)
    yield from _sums_row(tiling)


def _tile_buffer_row(slot: TileBuffers, tiling: TiledStep) -> Row:
    places = [tiling.book.of_buffer(name) for name in slot.buffers]
    where = ", ".join(f"[{place.offset_bytes}, {place.offset_bytes + slot.size_bytes})" for place in places)
    loops = ", ".join(comment_text(cut.loop) for cut in slot.level.cuts[: slot.copy.level] if cut.extent.number != 1)
    about = f"{'new rows' if slot.roll else 'tile'}, for each {loops}" if loops else "resident"
    kind = type_text(slot.binding.dtype.value, slot.capacity, slot.binding.layout)
    return slot.binding.operand.ljust(7), kind, f"{comment_text(places[0].where)} {where}", about


def _sums_row(tiling: TiledStep) -> Iterator[Row]:
    if tiling.sums is None or tiling.sums.in_output:
        return
    (span,), size = tiling.sums.carried.ranges, tiling.sums.dtype.size_bytes
    place = tiling.book.of_buffer(span.buffer)
    where = f"{comment_text(place.where)} [{place.offset_bytes}, {place.offset_bytes + span.size_bytes})"
    yield SUMS.ljust(7), f"{tiling.sums.dtype.value}[{span.size_bytes // size}]", where, "sums so far"
