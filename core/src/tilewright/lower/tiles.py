"""Knows how one step becomes C for several cores and memories: a pipeline of tiles, or one piece that cores share.
Does not know the other steps, nor the border of the program.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.identifiers import comment_text, safe_identifier
from tilewright.lower.addresses import AddressBook
from tilewright.lower.bonds import bonds_of, scratch_name
from tilewright.lower.comments import Row, step_comment, type_text
from tilewright.lower.nest import Level, nest_of
from tilewright.lower.partial_sums import sums_of
from tilewright.lower.parts import called, used
from tilewright.lower.pipeline import Pipeline, pipeline, untiled
from tilewright.lower.slots import Slot, Tiling, operand_names, tiling_slots
from tilewright.lower.split import beginning
from tilewright.lower.steps import Lowered
from tilewright.operands import kernel_access
from tilewright.operator import Operator
from tilewright.platform import Platform
from tilewright.program import StepCode
from tilewright.stages import Group, Step
from tilewright.tile.sums import SUMS


def is_team(platform: Platform) -> bool:
    """Whether programs for the platform are run by several cores, or move data between memories."""
    return bool(platform.near) or any(engine.cores > 1 for engine in platform.engines)


def lower_tiled_step(
    index: int, step: Step, group: Group, book: AddressBook, operators: Mapping[str, Operator], prefix: str, total: int
) -> Lowered:
    """The step's function, and the functions it calls."""
    tiling = _tiling(index, step, group, book, operators, prefix, total)
    made = Pipeline()
    if any(bond.region.size_bytes for bond in tiling.bonds if bond.written):
        made = pipeline(tiling) if group.tile.hops else untiled(tiling)
    begun = beginning([tiling]) if made.body and group.tile.hops else ()
    bound = book.allocated.tiled.scheduled.bound
    bases = book.bases
    code = StepCode(
        step=step.name,
        function=tiling.function,
        comment=step_comment(
            index, total, tiling.site, bound.bindings[step.name], tiling.bonds, book, step,
            buffers=_rows(tiling), tiles=[_tiles(level) for level in tiling.nest.levels],
        ),
        parameters=tuple(sorted(used(bases, made.body), key=lambda one: one.name)),
        body=(*begun, *made.body),
        declarations=_struct(tiling) if made.body else (),
        parts=called(made.parts, made.body),
    )  # fmt: skip
    return Lowered(code=code, source=made.source, kernel=tiling.kernel)


def _tiling(
    index: int, step: Step, group: Group, book: AddressBook, operators: Mapping[str, Operator], prefix: str, total: int
) -> Tiling:
    bound = book.allocated.tiled.scheduled.bound
    node = next(node for node in bound.graph.nodes if node.name == step.nodes[-1])
    site, binding, operator = bound.graph.site(node), bound.bindings[step.name], operators[node.op]
    function = f"{prefix}_{index:0{len(str(total - 1))}d}_{safe_identifier(node.op, 'op').lower()}"
    nest = nest_of(kernel_access(operator, binding.kernel, site), group.tile, f"{function}_box")
    bonds = bonds_of(site, operator, binding, book)
    names = operand_names(bonds, book)
    sums = sums_of(nest, binding.kernel, site, bonds, step, book, group.tile)
    return Tiling(
        step=step,
        site=site,
        operator=operator,
        kernel=binding.kernel,
        nest=nest,
        bonds=bonds,
        names=names,
        book=book,
        platform=bound.platform,
        function=function,
        slots=tiling_slots(nest, bonds, names, step),
        scratch=scratch_name(step),
        sums=sums,
    )


def _struct(tiling: Tiling) -> tuple[str, ...]:
    members = ", ".join(tiling.nest.members.values())
    return (f"typedef struct {{\n    tw_range {members};\n}} {tiling.nest.struct};",) if members else ()


def _tiles(level: Level) -> str:
    """`h 4 x 8, o 2 x 16 of l1: 8 tiles`: how often, and how many trips."""
    cuts = [f"{comment_text(cut.loop)} {_count(str(cut.trips))} x {cut.size}" for cut in level.cuts]
    total = level.total if level.total.isdigit() else "as many as there are"
    return f"{comment_text(level.hop.near)}: {', '.join(cuts) or 'whole'} ({total})"


def _count(trips: str) -> str:
    return trips if trips.isdigit() else "n"


def _rows(tiling: Tiling) -> list[Row]:
    return [*(_row(slot, tiling) for slots in tiling.slots for slot in slots), *_sums_row(tiling)]


def _sums_row(tiling: Tiling) -> list[Row]:
    if tiling.sums is None:
        return []
    place = tiling.book.of_buffer(tiling.sums.held.regions[0].buffer)
    size = tiling.sums.held.regions[0].size_bytes
    count, where = size // tiling.sums.dtype.size_bytes, f"[{place.offset_bytes}, {place.offset_bytes + size})"
    text = f"{tiling.sums.dtype.value}[{count}]"
    return [(SUMS.ljust(7), text, f"{comment_text(place.where)} {where}", "sums so far")]


def _row(slot: Slot, tiling: Tiling) -> Row:
    places = [tiling.book.of_buffer(name) for name in slot.buffers]
    where = ", ".join(f"[{place.offset_bytes}, {place.offset_bytes + slot.size_bytes})" for place in places)
    bond = slot.bond
    loops = ", ".join(comment_text(cut.loop) for cut in slot.level.cuts[: slot.copy.depth] if cut.trips.number != 1)
    return (
        bond.operand.ljust(7),
        type_text(bond.dtype.value, slot.room, bond.layout),
        f"{comment_text(places[0].where)} {where}",
        f"tile, for each {loops}" if loops else "resident",
    )
