"""Knows the steps of a region on a machine: how their values hang together, and why steps cannot be one region.
Does not know tiles (`boxes`), costs, or which regions are chosen.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from tilewright.ir.access import Access, MapAccess
from tilewright.ir.graph import Node
from tilewright.ir.index import Index, bare_loop, mentions
from tilewright.ir.regions import Copy, Hop, key_of
from tilewright.ir.stages import Step
from tilewright.tile.space import Space, Traveller, touched_bytes
from tilewright.tile.spaces import NOTHING, Machine, OperandOf, Way, structural_key

UNTAKEN: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A step of the group, by its number in it, that reads an inner value."""

    member: int
    operand: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One step of a region. Of a hop's space `travellers` are the operands that come from outside, or leave."""

    index: int  # in the schedule
    step: Step
    access: Access
    spaces: tuple[Space, ...]  # over each hop, outermost first
    key: Hashable  # see `Seen`
    operands: tuple[OperandOf, ...]
    output: OperandOf
    inside: Mapping[str, int]  # operand -> number of the member that computes it
    readers: tuple[Reader, ...]  # of the output; none for the sink
    leaves: bool  # the output is needed outside, too; the sink's always is
    loops: tuple[str, ...]  # one for each axis of the output; "" where a call always writes the whole axis
    moves: Mapping[str, tuple[tuple[str, ...], ...]]  # operand -> by axis the loops that its index depends on

    @property
    def space(self) -> Space:
        """Over the last hop."""
        return self.spaces[-1]

    @property
    def index_map(self) -> MapAccess:
        """The access, where it is an index map. TypeError otherwise."""
        if not isinstance(self.access, MapAccess):
            raise TypeError(f"{self.step.name}: the access is no index map")
        return self.access


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The steps of a region. The last is the sink."""

    members: tuple[Member, ...]
    ways: tuple[Way, ...]  # the hops, outermost first
    rooms: tuple[int | None, ...]  # bytes of each hop's near memory; None: no limit
    grains: tuple[int, ...]  # tile buffers of each begin at multiples of it

    @property
    def sink(self) -> Member:
        """The step whose loops are cut."""
        return self.members[-1]

    @property
    def inner(self) -> tuple[str, ...]:
        """The values that pass between the steps, in order."""
        return tuple(member.output.value for member in self.members[:-1])

    def crossing(self, hop: int) -> Iterator[tuple[Member, Traveller]]:
        """What has to cross a hop, each value once."""
        seen: set[str] = set()
        for member in self.members:
            values = {item.name: item.value for item in member.operands}
            for item in member.spaces[hop].travellers:
                if values[item.name] not in seen:
                    seen.add(values[item.name])
                    yield member, item


def whole_hops(chain: Chain) -> tuple[Hop, ...]:
    """The hops before the last where nothing is cut on them: all that crosses is resident."""
    return tuple(
        Hop(
            far=way.far,
            near=way.near,
            copies={key_of(member.step.name, item.name): Copy(level=0) for member, item in chain.crossing(at)},
        )
        for at, way in enumerate(chain.ways[:-1])
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A step of a schedule as regions see it. `key` is equal where spaces have the same tilings in the same room."""

    step: Step
    spaces: tuple[Space, ...]  # over each hop, outermost first
    key: Hashable
    operands: tuple[OperandOf, ...]
    moves: Mapping[str, tuple[tuple[str, ...], ...]]  # see `Member`
    reason: str  # why it can be in no region of several steps; empty where it can
    unheld: str  # why what it writes cannot pass to another step of one

    @property
    def output(self) -> OperandOf:
        """What it writes; the first of several."""
        return next(item for item in self.operands if item.written)


class Lookout:
    """The steps of a machine's schedule; each is looked at once, and once more for all that is kept elsewhere.

    `ways` are the hops that regions go over; None: all of the machine's.
    """

    def __init__(self, machine: Machine, ways: Sequence[Way] | None = None) -> None:
        self.machine, self.ways = machine, machine.hops if ways is None else tuple(ways)
        self._seen: dict[tuple[int, frozenset[tuple[str, str]]], Seen] = {}
        self._touched: dict[int, frozenset[str]] = {}

    def at(self, index: int, kept: Mapping[str, str] = NOTHING) -> Seen:
        """`kept` has buffers that are elsewhere than decided, and their memory."""
        step = self.machine.scheduled.steps[index]
        if index not in self._touched:
            self._touched[index] = frozenset(item.buffer for item in self.machine.operands(step))
        here = {name: kept[name] for name in self._touched[index].intersection(kept)}
        key = index, frozenset(here.items())
        if key not in self._seen:
            self._seen[key] = self._look(index, step, here)
        return self._seen[key]

    def _look(self, index: int, step: Step, kept: Mapping[str, str]) -> Seen:
        machine = self.machine
        spaces = tuple(machine.space(index, step, (hop.far, hop.near), kept=kept) for hop in self.ways)
        operands = machine.operands(step, kept)
        access = machine.access(step)
        return Seen(
            step=step,
            spaces=spaces,
            key=tuple(structural_key(replace(one, room_bytes=None)) for one in spaces),
            operands=operands,
            moves=_moves(access),
            reason=_unfit(machine.nodes[step.name], access, step, operands),
            unheld=_unheld(access),
        )


def chain_of(
    machine: Machine,
    index: int,
    steps: Sequence[Step],
    kept: Mapping[str, str] = NOTHING,
    taken: Mapping[str, int] = UNTAKEN,
    lookout: Lookout | None = None,
) -> Chain | str:
    """The steps from `index` on as a group, or a sentence that says why they are none.

    `kept` has buffers that are elsewhere than decided, and their memory; `taken` is what they take of memories.
    """
    lookout = lookout or Lookout(machine)
    if len(steps) > 1 and not lookout.ways:
        return "several steps are tiled together only where values can stay in a near memory"
    seen = [lookout.at(index + number, kept) for number in range(len(steps))]
    for number, one in enumerate(seen if len(seen) > 1 else ()):
        held = number + 1 < len(seen)
        reason = one.reason or (held and (one.unheld or _wanted_elsewhere(lookout, one, seen))) or ""
        if reason:
            return f"step '{one.step.name}': {reason}"
    made = {one.output.value: number for number, one in enumerate(seen[:-1])}
    chain = Chain(
        members=tuple(_member(lookout, index + number, number, seen, made) for number in range(len(seen))),
        ways=lookout.ways,
        rooms=tuple(_room(machine, way.near, index, len(seen), taken) for way in lookout.ways),
        grains=tuple(machine.grain(way.near) for way in lookout.ways),
    )
    return _in_each_others_way(machine, chain) or chain


def chain_of_one(machine: Machine, index: int, ways: Sequence[Way], spaces: Sequence[Space]) -> Chain:
    """A step alone, over some hops. `spaces` are its tilings over each of them."""
    step, access = machine.scheduled.steps[index], machine.access(machine.scheduled.steps[index])
    operands = machine.operands(step)
    member = Member(
        index=index,
        step=step,
        access=access,
        spaces=tuple(spaces),
        key=(),
        operands=operands,
        output=next(item for item in operands if item.written),
        inside={},
        readers=(),
        leaves=True,
        loops=(),
        moves=_moves(access),
    )
    return Chain(
        members=(member,),
        ways=tuple(ways),
        rooms=tuple(space.room_bytes for space in spaces),
        grains=tuple(machine.grain(way.near) for way in ways),
    )


def _moves(access: Access) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    if not isinstance(access, MapAccess):
        return {}
    names = [loop.name for loop in access.loops]
    return {
        operand: tuple(tuple(name for name in names if mentions(axis.index, name)) for axis in axes)
        for operand, axes in access.axes.items()
    }


def _unfit(node: Node, access: Access, step: Step, operands: Sequence[OperandOf]) -> str:
    """Why a step can be in no region of several."""
    if not isinstance(access, MapAccess):
        return "its windows are no index map"
    if len(node.outputs) != 1 or len(step.nodes) != 1:
        return "it is more than one node, or has more than one output"
    if any(0 in operand.shape for operand in operands):
        return "it computes nothing"
    return ""


def _unheld(access: Access) -> str:
    """Why the output of a step cannot pass to another step of a region."""
    if isinstance(access, MapAccess):
        output = access.outputs[0]
        if any(not _is_loop(axis.index, bare_loop(axis), axis.extent) for axis in access.axes[output]):
            return f"{output} is not written with one loop to each axis"
    return ""


def _wanted_elsewhere(lookout: Lookout, one: Seen, seen: Sequence[Seen]) -> str:
    """That no step of the region reads the output of one, or wants it in a memory where it is not."""
    value, near = one.output.value, lookout.machine.platform.near
    if not any(operand.value == value and not operand.written for user in seen for operand in user.operands):
        return f"no step of the group reads '{value}'"
    for user in seen:
        memories = lookout.machine.bound.bindings[user.step.name].kernel.memories
        for operand in user.operands:
            if operand.value == value and near not in memories.get(operand.name, (near,)):
                return f"'{user.step.name}' wants '{value}' in another memory than '{near}'"
    return ""


def _leaves(lookout: Lookout, one: Seen, names: set[str]) -> bool:
    """Whether anything outside these steps needs what a step writes."""
    value = one.output.value
    readers = (node.name for node in lookout.machine.consumers.get(value, ()))
    return value in lookout.machine.bound.graph.outputs or any(name not in names for name in readers)


def _is_loop(index: Index | None, loop: str, extent: int) -> bool:
    return index is None or bool(loop) or (extent == 1 and not index.terms)


def _member(lookout: Lookout, index: int, number: int, seen: Sequence[Seen], made: Mapping[str, int]) -> Member:
    here, last = seen[number], number + 1 == len(seen)
    inside = {item.name: made[item.value] for item in here.operands if not item.written and item.value in made}
    output = here.output
    leaves = last or _leaves(lookout, here, {one.step.name for one in seen})
    readers = tuple(
        Reader(member=at, operand=item.name)
        for at, one in enumerate(seen)
        for item in one.operands
        if item.value == output.value and not item.written
    )
    access = lookout.machine.access(here.step)
    axes = access.axes[output.name] if isinstance(access, MapAccess) else ()
    at_home = {*inside, *(() if leaves else (output.name,))}
    return Member(
        index=index,
        step=here.step,
        access=access,
        spaces=tuple(_without(space, at_home) for space in here.spaces) if at_home else here.spaces,
        key=here.key,
        operands=here.operands,
        output=output,
        inside=inside,
        readers=readers,
        leaves=leaves,
        loops=tuple(bare_loop(axis) for axis in axes),
        moves=here.moves,
    )


def _without(space: Space, at_home: set[str]) -> Space:
    """The space with operands that stay in the region: they are not copied, but would be, layer by layer."""
    spared = (item for item in space.travellers if item.name in at_home)
    return replace(
        space,
        travellers=tuple(item for item in space.travellers if item.name not in at_home),
        spared_bytes=space.spared_bytes
        + sum(touched_bytes(space.access, item.name, item.item_bytes) for item in spared),
    )


def _room(machine: Machine, memory: str, index: int, count: int, taken: Mapping[str, int]) -> int | None:
    """Bytes of a memory that `count` steps from `index` on may all take."""
    rooms = [machine.room_bytes(memory, index + number) for number in range(count)]
    known = [room for room in rooms if room is not None]
    return min(known) - taken.get(memory, 0) if known else None


def _in_each_others_way(machine: Machine, chain: Chain) -> str:
    """Indices that do not rise, and outputs that take the bytes of something the region reads or writes."""
    if len(chain.members) == 1:
        return ""
    taken: dict[str, str] = {}  # buffer -> value that is written to it
    storage = machine.scheduled.storage
    for member in chain.members:
        for operand, maker in member.inside.items():
            moved = {loop for loop in chain.members[maker].loops if loop}
            if moved and not all(rises(axis.index) for axis in member.index_map.axes[operand]):
                return f"step '{member.step.name}': it reads {operand} with an index that does not rise with its loops"
        value = member.output.value
        if member.leaves and taken.setdefault(storage[value].buffer, value) != value:
            return f"the outputs '{taken[storage[value].buffer]}' and '{value}' share bytes"
    for member in chain.members:
        for item in member.operands:
            if item.constant or item.written or item.name in member.inside:
                continue
            over = taken.get(storage[item.value].buffer)
            if over is not None:
                return f"the output '{over}' takes the bytes of '{item.value}', which the group reads"
    return ""


def rises(index: Index | None) -> bool:
    """Whether a later trip of any loop never means an earlier position."""
    if index is None:
        return True
    return all(
        term.coefficient >= 0 and term.operation != "%" and (term.inner is None or rises(term.inner))
        for term in index.terms
    )
