"""Knows the lines about tiles and their buffers in the comment above a step's function.
Does not know the rest of the comment (`comments`), nor any code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright.c_text.identifiers import comment_text
from tilewright.ir.plans.region import Region
from tilewright.ir.programs.expressions import Expression
from tilewright.lower.steps.step_comments import Row, type_text
from tilewright.lower.tiles.tile_nest import HopLevel
from tilewright.lower.tiles.tile_operands import TileBuffers, TiledStep
from tilewright.tile.cost.footprint import SUMS


def tile_lines(tilings: Sequence[TiledStep], number: int) -> list[str]:
    """Which steps are one region, and its tiles: `l1: h 4 x 8, o 2 x 16 (8)`, how often, and how many trips."""
    sink = tilings[-1]
    numbers = [str(one.index) for one in sink.box.analysis.members]
    if number + 1 < len(tilings):
        return [f"together with step {numbers[-1]}, whose function computes this one, too"]
    lines = [_tiles(level) for level in sink.nest.levels]
    return [*lines[:-1], f"{lines[-1]}, steps {', '.join(numbers)} together"] if len(tilings) > 1 else lines


def _tiles(level: HopLevel) -> str:
    cuts = [f"{comment_text(cut.loop)} {_count(cut.extent, 'n')} x {cut.size}" for cut in level.cuts]
    total = _count(level.total, "as many as there are")
    return f"{comment_text(level.hop.inner)}: {', '.join(cuts) or 'whole'} ({total})"


def _count(trips: Expression, otherwise: str) -> str:
    return otherwise if trips.number is None else str(trips)


def buffer_rows(tiling: TiledStep, region: Region) -> Iterator[Row]:
    """What is held, tile buffers, and sums."""
    for binding in tiling.bindings:
        if binding.operand in tiling.inner:
            held = tiling.inner[binding.operand]
            place, size = tiling.book.of_buffer(held.ranges[0].buffer), held.ranges[0].size_bytes
            number = next(at for at, one in enumerate(tiling.box.analysis.members) if one.output.value == binding.what)
            kind = type_text(binding.dtype.value, tiling.box.boxes.internal_rows(number), binding.layout)
            where = f"{comment_text(place.where)} [{place.offset_bytes}, {place.offset_bytes + size})"
            yield binding.operand.ljust(7), kind, where, f"held ({region.internal_values[binding.what].form})"
    yield from (_row(slot, tiling) for slots in tiling.slots for slot in slots if not slot.borrowed)
    yield from _sums_row(tiling)


def _row(slot: TileBuffers, tiling: TiledStep) -> Row:
    places = [tiling.book.of_buffer(name) for name in slot.buffers]
    where = ", ".join(f"[{place.offset_bytes}, {place.offset_bytes + slot.size_bytes})" for place in places)
    loops = ", ".join(comment_text(cut.loop) for cut in slot.level.cuts[: slot.copy.level] if cut.extent.number != 1)
    about = f"{'new rows' if slot.roll else 'tile'}, for each {loops}" if loops else "resident"
    kind = type_text(slot.binding.dtype.value, slot.capacity, slot.binding.layout)
    return slot.binding.operand.ljust(7), kind, f"{comment_text(places[0].where)} {where}", about


def _sums_row(tiling: TiledStep) -> Iterator[Row]:
    if tiling.sums is None or tiling.sums.in_output:
        return
    (one,), size = tiling.sums.carried.ranges, tiling.sums.dtype.size_bytes
    place = tiling.book.of_buffer(one.buffer)
    where = f"{comment_text(place.where)} [{place.offset_bytes}, {place.offset_bytes + one.size_bytes})"
    yield SUMS.ljust(7), f"{tiling.sums.dtype.value}[{one.size_bytes // size}]", where, "sums so far"
