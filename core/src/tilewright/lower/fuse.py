"""Knows how several steps tiled together become C: one pipeline, at the last of them, in which all of them compute.
Does not know how their boxes are computed (`fuse_boxes`), nor groups of one step (`tiles`).

For every tile the mover waits and fetches as for one step; then rows that stay are moved, and each step computes its
part of the tile, a barrier after each. A step that an inner loop does not move computes only in the first of its tiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import prod

from tilewright.identifiers import comment_text, safe_identifier, unique_identifiers
from tilewright.layout import strides
from tilewright.lower.addresses import AddressBook
from tilewright.lower.bonds import Bond, scratch_name
from tilewright.lower.comments import Row, step_comment, type_text
from tilewright.lower.fuse_boxes import BOX, GroupBox, group_box
from tilewright.lower.fuse_outer import group_bonds, outer_movers, places_of
from tilewright.lower.parts import call_part, called, compute_part, declared, move_part, used
from tilewright.lower.pipeline import Also, Mover, declarations, pointed, tile_loop, when
from tilewright.lower.slots import STEP_LOCALS, Held, Slot, Tiling, unsupported_tile
from tilewright.lower.split import beginning
from tilewright.lower.steps import Lowered
from tilewright.lower.sums import Sum
from tilewright.operator import Operator
from tilewright.program import Parameter, Part, StepCode
from tilewright.stages import Group
from tilewright.statements import Barrier, Charge, Declare, If, KernelCall, Mark, Region, Statement
from tilewright.tile.fuse import Chain, copy_key
from tilewright.tile.fuse_buffers import group_chain, tile_buffer_name
from tilewright.tile.fuse_cost import moved_cycles
from tilewright.tile.spaces import Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fused:
    """A group being lowered."""

    group: Group
    chain: Chain
    box: GroupBox
    book: AddressBook
    tilings: tuple[Tiling, ...]
    outer: tuple[tuple[Mover, ...], ...]  # what crosses the hops before the last, outermost first

    @property
    def near(self) -> str:
        """The memory in which everything is computed."""
        return self.group.tile.hops[-1].near

    def first(self, number: int) -> str:
        """Holds for the first tile of those for which a step computes the same."""
        level = self.box.level
        period = level.period(self.box.boxes.depth(number))
        return "" if period == "1" else f"{level.counter} % {period} == 0"

    def last(self, number: int) -> str:
        """Holds for the last of them."""
        level = self.box.level
        period = level.period(self.box.boxes.depth(number))
        return "" if period == "1" else f"({level.counter} + 1) % {period} == 0"


def group_text() -> str:
    """The C functions that groups use."""
    return (files("tilewright.lower") / "text" / "group.c").read_text(encoding="utf-8").strip("\n")


def lower_group(
    group: Group, book: AddressBook, operators: Mapping[str, Operator], prefix: str, total: int
) -> tuple[Lowered, ...]:
    """The steps of a group, in order: all code is the last one's. TilewrightError TW4041 where there is no code."""
    fused = _fused(group, book, operators, prefix, total)
    made = _pipeline(fused)
    return tuple(_code(fused, number, made, total) for number in range(len(fused.chain.members)))


def _fused(group: Group, book: AddressBook, operators: Mapping[str, Operator], prefix: str, total: int) -> _Fused:
    allocated = book.allocated
    machine = Machine(allocated.tiled.scheduled, operators, allocated.decisions)
    chain = group_chain(machine, group)
    functions = [
        f"{prefix}_{one.index:0{len(str(total - 1))}d}_{safe_identifier(one.space.site.node.op, 'op').lower()}"
        for one in chain.members
    ]
    box = group_box(chain, group.tile, functions[-1])
    near = group.tile.hops[-1].near
    inner = {one.output.value: tile_buffer_name(one.step.name, one.output.name, near, 0) for one in chain.members[:-1]}
    places = [*places_of(chain)]
    bonds = group_bonds(machine, chain, book, {**places[-1], **inner})
    names = _names(chain, bonds, box, book)
    tilings = tuple(
        _tiling(number, chain, box, book, operators, functions[number], bonds[number], names[number], group)
        for number in range(len(chain.members))
    )
    outer = tuple(
        tuple(outer_movers(crossing, tilings, group_bonds(machine, chain, book, {**before, **inner})))
        for crossing, before in zip(chain.outer, places, strict=False)
    )
    return _Fused(group=group, chain=chain, box=box, book=book, tilings=tilings, outer=outer)


def _names(
    chain: Chain, bonds: Sequence[Sequence[Bond]], box: GroupBox, book: AddressBook
) -> tuple[Mapping[str, str], ...]:
    """For each step, operand -> C identifier; no two of the group are the same."""
    texts = [
        [f"{bond.operand.lower()}_{one.index}" for bond in own] for one, own in zip(chain.members, bonds, strict=True)
    ]
    taken = [*STEP_LOCALS, *box.members, "before", *(one.name for one in book.bases)]
    names = unique_identifiers([text for own in texts for text in own], taken=taken, fallback="x")
    return tuple(
        {bond.operand: names[text] for bond, text in zip(own, texts[number], strict=True)}
        for number, own in enumerate(bonds)
    )


def _tiling(
    number: int,
    chain: Chain,
    box: GroupBox,
    book: AddressBook,
    operators: Mapping[str, Operator],
    function: str,
    bonds: Sequence[Bond],
    names: Mapping[str, str],
    group: Group,
) -> Tiling:
    member, nest = chain.members[number], box.nest(number)
    inner = dict(member.inside)
    if number + 1 < len(chain.members):
        inner[member.output.name] = number
    held = {
        bond.operand: _held(box, book, inner[bond.operand], group, written=bond.written)
        for bond in bonds
        if bond.operand in inner
    }
    return Tiling(
        step=member.step,
        site=member.space.site,
        operator=operators[member.space.site.node.op],
        kernel=member.space.kernel,
        nest=nest,
        bonds=tuple(bonds),
        names=names,
        book=book,
        platform=book.allocated.tiled.scheduled.bound.platform,
        function=function,
        slots=(tuple(_slots(number, box, bonds, names, group)),),
        inner=held,
        scratch=scratch_name(chain.sink.step),
    )


def _slots(number: int, box: GroupBox, bonds: Sequence[Bond], names: Mapping[str, str], group: Group) -> Iterator[Slot]:
    member, hop = box.chain.members[number], group.tile.hops[-1]
    level = box.nest(number).levels[0]
    for bond in bonds:
        copy = hop.copies.get(copy_key(member.step.name, bond.operand, len(box.chain.members)))
        if copy is None:
            continue
        if box.mixed(number, bond.operand, copy.depth):
            reason = f"loops inside and outside of depth {copy.depth} move operand {bond.operand} together"
            raise unsupported_tile(member.step, reason)
        yield Slot(
            bond=bond,
            level=level,
            copy=copy,
            name=names[bond.operand],
            buffers=tuple(tile_buffer_name(member.step.name, bond.operand, hop.near, i) for i in range(copy.buffers)),
            room=box.boxes.room(number, bond.operand, copy.depth),
        )


def _held(box: GroupBox, book: AddressBook, number: int, group: Group, *, written: bool) -> Held:
    """Where the output of a step of the group is kept."""
    member, near = box.chain.members[number], group.tile.hops[-1].near
    buffer = tile_buffer_name(member.step.name, member.output.name, near, 0)
    place, item = book.of_buffer(buffer), member.output.item_bytes
    return Held(
        parameter=place.parameter,
        memory=near,
        offset_bytes=place.offset_bytes,
        strides=tuple(step * item for step in strides(box.boxes.held(number), member.output.layout)),
        origin=tuple(box.need(number, axis)[0] for axis in range(len(member.output.shape))),
        regions=(Region(buffer=buffer, offset_bytes=0, size_bytes=book.buffers[buffer].size_bytes),),
    )


# --- the pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    body: tuple[Statement, ...]
    parts: tuple[Part, ...]
    sources: tuple[str, ...]  # of each step's kernel


def _pipeline(fused: _Fused) -> _Made:
    level = fused.box.level
    movers: list[Mover] = []
    for tiling in fused.tilings:
        for slot in tiling.slots[0]:
            part = move_part(tiling, tiling.nest.levels[0], slot)
            movers.append(Mover(slot=slot, part=part, level=level))
    keeps = [part for number in range(len(fused.tilings)) for part in _keep_part(fused, number)]
    computes = [compute_part(tiling) for tiling in fused.tilings]
    steps: list[Statement] = [call_part(part, {}) for part in keeps]
    if keeps:
        steps.append(Barrier())
    for number, (part, _) in enumerate(computes):
        call = pointed((call_part(part, {}),), movers, level)
        final = number + 1 == len(computes)
        steps.extend(when(fused.first(number), call if final else (*call, Barrier())))
    moves = tile_loop(level, movers, tuple(steps), also=_marks(fused))
    for crossing in reversed(fused.outer):
        moves = tile_loop(crossing[0].level, crossing, moves) if crossing else moves
    farther = [one for crossing in fused.outer for one in crossing]
    body = (*declared(declarations(fused.book, level, [*farther, *movers]), moves), *moves)
    boxes = (fused.box.part(),) if level.moving else ()
    parts = (*boxes, *(one.part for one in (*farther, *movers)), *keeps, *(part for part, _ in computes))
    return _Made(body=body, parts=called(parts, body), sources=tuple(text for _, text in computes))


def _keep_part(fused: _Fused, number: int) -> Iterator[Part]:
    """Moves the rows of a step's output that stay from the tile before."""
    box, boxes, tiling = fused.box, fused.box.boxes, fused.tilings[number]
    slide = boxes.slides[number]
    stays, _ = boxes.kept(number)
    if slide is None or not stays.any():
        return
    along, axis = slide
    member, level = fused.chain.members[number], box.level
    held = tiling.inner[member.output.name]
    need, run = box.need(number, axis), box.run(number)[member.loops[axis]]
    kept, before = run[0] - need[0], str(need[0]).replace(f"{BOX}.", "before.", 1)
    most, cores = int(stays.max()), max(1, member.space.engine.cores)
    cycles = round(moved_cycles(boxes, number) * most / cores)
    call = KernelCall(
        kernel="tw_keep",
        text=f"tw_keep({_address(held)}, {_rows_text(fused, number, axis)}, {need[0]} - {before}, {kept});",
        reads=held.regions,
        writes=held.regions,
    )
    period = level.period(along + 1)
    fetch = f"{box.function}({level.counter}{'' if period == '0' else f' - {period}'})"
    inner = (
        Declare(type=f"const {box.struct}", name="before", value=fetch),
        call,
        Charge(text=f"tw_charge({cycles}u, {kept}, {most});"),
    )
    conditions = [f"{BOX}.{box.sink.members[level.cuts[along].loop]}.low > 0"]
    if fused.first(number):
        conditions.insert(0, fused.first(number))
    body: tuple[Statement, ...] = (
        Declare(type=f"const {box.struct}", name=BOX, value=f"{box.function}({level.counter})"),
        If(condition=" && ".join(conditions), body=inner),
    )
    counter = Parameter(type="int32_t", name=level.counter, argument=level.counter)
    yield Part(
        role="compute",
        function=f"{tiling.function}_keep",
        comment=(
            f"Moves what stays of {member.output.name} to the buffer's start: trips of loop {member.loops[axis]}.",
        ),
        parameters=(*used([held.parameter], body), counter),
        body=body,
    )


def _rows_text(fused: _Fused, number: int, axis: int) -> str:
    """Blocks of rows, rows of a block, bytes of a row: how the buffer is laid out around the axis that moves."""
    room, member = fused.box.boxes.held(number), fused.chain.members[number]
    position = member.output.layout.index(axis)
    ordered = [room[one] for one in member.output.layout]
    return f"{prod(ordered[:position])}, {room[axis]}, {prod(ordered[position + 1 :]) * member.output.item_bytes}"


def _address(held: Held) -> str:
    return str(Sum(held.offset_bytes, ((1, held.parameter.name),))) if held.offset_bytes else held.parameter.name


def _marks(fused: _Fused) -> Also:
    """Where buffers of inner values begin and end to hold data: with every tile that is computed anew, or for all."""
    lasting: list[tuple[Statement, Statement]] = []
    fresh: list[Statement] = []
    gone: list[Statement] = []
    for number, member in enumerate(fused.chain.members[:-1]):
        held = fused.tilings[number].inner[member.output.name]
        live, dead = _mark("live", held), _mark("dead", held)
        if fused.group.tile.inner[member.output.value] == "recompute" and fused.box.level.moving:
            fresh.extend(when(fused.first(number), (live,)))
            gone.extend(when(fused.last(number), (dead,)))
        else:
            lasting.append((live, dead))
    return Also(
        before=tuple(live for live, _ in lasting),
        arriving=tuple(fresh),
        leaving=tuple(gone),
        after=tuple(dead for _, dead in lasting),
    )


def _mark(event: str, held: Held) -> Statement:
    (region,) = held.regions
    return Mark(
        event="live" if event == "live" else "dead",
        buffer=region.buffer,
        pointer=_address(held),
        size_bytes=region.size_bytes,
    )


# --- the steps


def _code(fused: _Fused, number: int, made: _Made, total: int) -> Lowered:
    tiling, final = fused.tilings[number], number + 1 == len(fused.tilings)
    index = fused.chain.members[number].index
    bases = fused.book.bases
    bound = fused.book.allocated.tiled.scheduled.bound
    code = StepCode(
        step=tiling.step.name,
        function=tiling.function,
        comment=step_comment(
            index, total, tiling.site, bound.bindings[tiling.step.name],
            [bond for bond in tiling.bonds if bond.operand not in tiling.inner], fused.book, tiling.step,
            buffers=[*_inner_rows(fused, number), *_slot_rows(tiling)], tiles=_about(fused, number),
        ),
        parameters=tuple(sorted(used(bases, made.body), key=lambda one: one.name)) if final else (),
        body=(*beginning(fused.tilings), *made.body) if final else (),
        declarations=_struct(fused) if final else (),
        parts=made.parts if final else (),
    )  # fmt: skip
    return Lowered(code=code, source=made.sources[number], kernel=tiling.kernel)


def _struct(fused: _Fused) -> tuple[str, ...]:
    if not fused.box.level.moving:
        return ()
    return (f"typedef struct {{\n    tw_range {', '.join(fused.box.members)};\n}} {fused.box.struct};",)


def _about(fused: _Fused, number: int) -> list[str]:
    """Which steps are one group, and what its tiles are."""
    numbers = [str(one.index) for one in fused.chain.members]
    if number + 1 < len(fused.tilings):
        return [f"together with step {numbers[-1]}, whose function computes this one, too"]
    level = fused.box.level
    cuts = ", ".join(f"{comment_text(cut.loop)} {cut.trips} x {cut.size}" for cut in level.cuts)
    return [f"{comment_text(fused.near)}: {cuts or 'whole'} ({level.total}), steps {', '.join(numbers)} together"]


def _inner_rows(fused: _Fused, number: int) -> Iterator[Row]:
    tiling = fused.tilings[number]
    makers = {**fused.chain.members[number].inside, fused.chain.members[number].output.name: number}
    for bond in tiling.bonds:
        if bond.operand in tiling.inner:
            (region,) = tiling.inner[bond.operand].regions
            place, room = fused.book.of_buffer(region.buffer), fused.box.boxes.held(makers[bond.operand])
            where = f"{comment_text(place.where)} [{place.offset_bytes}, {place.offset_bytes + region.size_bytes})"
            mode = fused.group.tile.inner[bond.what]
            kind = type_text(bond.dtype.value, room, bond.layout)
            yield bond.operand.ljust(7), kind, where, f"stays near ({mode})"


def _slot_rows(tiling: Tiling) -> Iterator[Row]:
    for slot in tiling.slots[0]:
        places = [tiling.book.of_buffer(name) for name in slot.buffers]
        where = ", ".join(f"[{place.offset_bytes}, {place.offset_bytes + slot.size_bytes})" for place in places)
        loops = [comment_text(cut.loop) for cut in slot.level.cuts[: slot.copy.depth] if cut.trips.number != 1]
        kind = type_text(slot.bond.dtype.value, slot.room, slot.bond.layout)
        about = f"tile, for each {', '.join(loops)}" if loops else "resident"
        yield slot.bond.operand.ljust(7), kind, f"{comment_text(places[0].where)} {where}", about
