"""Knows which steps can be tiled together, how their values hang together, and why others cannot.
Does not know tiles (`fuse_boxes`), costs, or which groups are chosen.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from types import MappingProxyType

from tilewright.access import Access, MapAccess
from tilewright.decisions import HopTile, TileCopy
from tilewright.index import Index, bare_loop, mentions
from tilewright.platform import CopyPath
from tilewright.stages import Step
from tilewright.tile.space import Space, bound_bytes, touched_bytes
from tilewright.tile.spaces import NOTHING, Machine, OperandOf, structural_key
from tilewright.tile.transfers import Transfers, transfers

UNTAKEN: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A step of the group, by its number in it, that reads an inner value."""

    member: int
    operand: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One step of a group. `space.travellers` are the operands that come from outside the group, or leave it."""

    index: int  # in the schedule
    step: Step
    space: Space
    key: Hashable  # see `Seen`
    operands: tuple[OperandOf, ...]
    output: OperandOf
    inside: Mapping[str, int]  # operand -> number of the member that computes it
    readers: tuple[Reader, ...]  # of the output; none for the sink
    loops: tuple[str, ...]  # one for each axis of the output; "" where a call always writes the whole axis
    moves: Mapping[str, tuple[tuple[str, ...], ...]]  # operand -> by axis the loops that its index depends on

    @property
    def access(self) -> MapAccess:
        """The index map of the step's kernel."""
        return self.space.index_map


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """An operand that crosses a hop in one piece; others of the group that are the same value find it there."""

    step: str
    operand: OperandOf
    path: CopyPath

    @property
    def size_bytes(self) -> int:
        """All of it."""
        return self.operand.item_bytes * prod(self.operand.shape)

    @property
    def transfers(self) -> Transfers:
        """One run, in as many pieces as the path wants."""
        one, shape = self.operand, self.operand.shape
        return transfers(shape, shape, shape, one.layout, one.item_bytes, self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A hop before the last. What crosses it is whole in its near memory as long as the group runs."""

    far: str
    near: str
    items: tuple[Whole, ...]
    bound_bytes: int  # if every element of every step travelled once, layer by layer
    grain: int  # buffers begin at multiples of it

    @property
    def near_bytes(self) -> int:
        """What it takes of its near memory."""
        return sum(-(-item.size_bytes // self.grain) * self.grain for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Steps that can be tiled together. The last is the sink. Tiles are those of the last hop."""

    members: tuple[Member, ...]
    outer: tuple[Crossing, ...]  # the hops before, outermost first
    room_bytes: int | None  # of the near memory; None: no limit
    grain: int  # tile buffers begin at multiples of it

    @property
    def sink(self) -> Member:
        """The step whose loops are cut."""
        return self.members[-1]

    @property
    def inner(self) -> tuple[str, ...]:
        """The values that never leave the near memory, in order."""
        return tuple(member.output.value for member in self.members[:-1])


def outer_hops(chain: Chain) -> tuple[HopTile, ...]:
    """The hops before the last as they are decided: nothing is cut, all that crosses is resident."""
    return tuple(
        HopTile(
            far=crossing.far,
            near=crossing.near,
            nest=(),
            copies={f"{item.step}.{item.operand.name}": TileCopy(depth=0) for item in crossing.items},
        )
        for crossing in chain.outer
    )


def copy_key(step: str, operand: str, steps: int) -> str:
    """What an operand is called in `HopTile.copies`: in a group of one its name is enough."""
    return operand if steps == 1 else f"{step}.{operand}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A step of a schedule as groups see it. `key` is equal where spaces have the same tilings in the same room."""

    step: Step
    space: Space  # over the last hop
    outer: tuple[Space, ...]  # over the others, outermost first
    key: Hashable
    operands: tuple[OperandOf, ...]
    moves: Mapping[str, tuple[tuple[str, ...], ...]]  # see `Member`
    reason: str  # why it can be in no group; empty where it can
    unheld: str  # why what it writes cannot stay in a group

    @property
    def output(self) -> OperandOf:
        """What it writes, where it is in a group."""
        return next(item for item in self.operands if item.written)


class Lookout:
    """The steps of a machine's schedule; each is looked at once, and once more for all that is kept elsewhere."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.consumers = machine.bound.graph.consumers()
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
        *outer, space = (machine.space(index, step, (hop.far, hop.near), kept=kept) for hop in machine.hops)
        operands = machine.operands(step, kept)
        return Seen(
            step=step,
            space=space,
            outer=tuple(outer),
            key=tuple(structural_key(replace(one, room_bytes=None)) for one in (space, *outer)),
            operands=operands,
            moves=_moves(space.access),
            reason=_unfit(space, step, operands),
            unheld=_unheld(machine, space),
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
    if not machine.hops:
        return "several steps are tiled together only where values can stay in a near memory"
    lookout = lookout or Lookout(machine)
    seen = [lookout.at(index + number, kept) for number in range(len(steps))]
    for number, one in enumerate(seen):
        held = number + 1 < len(seen)
        reason = one.reason or (held and (one.unheld or _needed_elsewhere(lookout, one, seen))) or ""
        if reason:
            return f"step '{one.step.name}': {reason}"
    made = {one.output.value: number for number, one in enumerate(seen)}
    outer = tuple(_crossing(machine, at, seen, made) for at in range(len(machine.hops) - 1))
    for crossing in outer:
        room = _room(machine, crossing.near, index, len(seen), taken)
        if room is not None and crossing.near_bytes > room:
            return f"what crosses to '{crossing.near}' is {crossing.near_bytes:,} B, and there is room for {room:,} B"
    brought = {item.operand.value for crossing in outer for item in crossing.items}
    members = tuple(_member(index + number, number, seen, made, brought) for number in range(len(seen)))
    chain = Chain(
        members=members,
        outer=outer,
        room_bytes=_room(machine, machine.platform.near, index, len(seen), taken),
        grain=members[0].space.grain,
    )
    return _in_each_others_way(machine, chain) or chain


def _moves(access: Access) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    if not isinstance(access, MapAccess):
        return {}
    names = [loop.name for loop in access.loops]
    return {
        operand: tuple(tuple(name for name in names if mentions(axis.index, name)) for axis in axes)
        for operand, axes in access.axes.items()
    }


def _unfit(space: Space, step: Step, operands: Sequence[OperandOf]) -> str:
    """Why a step can be in no group."""
    if not isinstance(space.access, MapAccess):
        return "its windows are no index map"
    if len(space.site.node.outputs) != 1 or len(step.nodes) != 1:
        return "it is more than one node, or has more than one output"
    if any(0 in operand.shape for operand in operands):
        return "it computes nothing"
    return ""


def _unheld(machine: Machine, space: Space) -> str:
    """Why the output of a step cannot stay inside any group."""
    value, access = space.site.node.outputs[0], space.access
    if value in machine.bound.graph.outputs:
        return f"'{value}' is an output of the graph"
    if isinstance(access, MapAccess):
        output = access.outputs[0]
        if any(not _is_loop(axis.index, bare_loop(axis), axis.extent) for axis in access.axes[output]):
            return f"{output} is not written with one loop to each axis"
    return ""


def _needed_elsewhere(lookout: Lookout, one: Seen, seen: Sequence[Seen]) -> str:
    """Why the output of a step cannot stay inside this group."""
    value, near = one.output.value, lookout.machine.platform.near
    names = {other.step.name for other in seen}
    for node in lookout.consumers.get(value, ()):
        if node.name not in names:
            return f"'{node.name}' reads '{value}' too, and is not in the group"
    for user in seen:
        memories = user.space.kernel.memories
        for operand in user.operands:
            if operand.value == value and near not in memories.get(operand.name, (near,)):
                return f"'{user.step.name}' wants '{value}' in another memory than '{near}'"
    return ""


def _is_loop(index: Index | None, loop: str, extent: int) -> bool:
    return index is None or bool(loop) or (extent == 1 and not index.terms)


def _member(index: int, number: int, seen: Sequence[Seen], made: Mapping[str, int], brought: set[str]) -> Member:
    here, space = seen[number], seen[number].space
    inside = {item.name: made[item.value] for item in here.operands if not item.written and item.value in made}
    output = here.output
    at_home = {*inside, *([output.name] if number + 1 < len(seen) else [])}
    readers = tuple(
        Reader(member=at, operand=item.name)
        for at, one in enumerate(seen)
        for item in one.operands
        if item.value == output.value and not item.written
    )
    axes = space.access.axes[output.name] if isinstance(space.access, MapAccess) else ()
    return Member(
        index=index,
        step=here.step,
        space=_without(_aligned(space, {item.name for item in here.operands if item.value in brought}), at_home),
        key=here.key,
        operands=here.operands,
        output=output,
        inside=inside,
        readers=readers,
        loops=tuple(bare_loop(axis) for axis in axes),
        moves=here.moves,
    )


def _aligned(space: Space, brought: set[str]) -> Space:
    """The space with operands that come from buffers of their own."""
    travellers = (replace(item, aligned_offset=True) if item.name in brought else item for item in space.travellers)
    return replace(space, travellers=tuple(travellers))


def _without(space: Space, at_home: set[str]) -> Space:
    """The space with operands that stay in the group: they do not travel, but would, layer by layer."""
    spared = (item for item in space.travellers if item.name in at_home)
    return replace(
        space,
        travellers=tuple(item for item in space.travellers if item.name not in at_home),
        spared_bytes=space.spared_bytes
        + sum(touched_bytes(space.access, item.name, item.item_bytes) for item in spared),
    )


def _crossing(machine: Machine, at: int, seen: Sequence[Seen], made: Mapping[str, int]) -> Crossing:
    """What travels over hop number `at`, each value once."""
    hop, sink = machine.hops[at], seen[-1].output.value
    items: dict[str, Whole] = {}
    for one in seen:
        for operand in one.operands:
            path = machine.path(operand, one.space.kernel, (hop.far, hop.near))
            if path is not None and (operand.value not in made or operand.value == sink):
                items.setdefault(operand.value, Whole(step=one.step.name, operand=operand, path=path))
    return Crossing(
        far=hop.far,
        near=hop.near,
        items=tuple(items.values()),
        bound_bytes=sum(bound_bytes(one.outer[at]) for one in seen),
        grain=machine.grain(hop.near),
    )


def _room(machine: Machine, memory: str, index: int, count: int, taken: Mapping[str, int]) -> int | None:
    """Bytes of a memory that `count` steps from `index` on may all take."""
    rooms = [machine.room_bytes(memory, index + number) for number in range(count)]
    known = [room for room in rooms if room is not None]
    return min(known) - taken.get(memory, 0) if known else None


def _in_each_others_way(machine: Machine, chain: Chain) -> str:
    """Indices that do not rise, and outputs over inputs."""
    for member in chain.members:
        for operand, maker in member.inside.items():
            moved = {loop for loop in chain.members[maker].loops if loop}
            if moved and not all(rises(axis.index) for axis in member.access.axes[operand]):
                return f"step '{member.step.name}': it reads {operand} with an index that does not rise with its loops"
    sink = chain.sink.output
    for member in chain.members:
        for item in member.operands:
            if item.constant or item.written or item.name in member.inside:
                continue
            if machine.scheduled.storage[item.value].buffer == machine.scheduled.storage[sink.value].buffer:
                return f"the output '{sink.value}' takes the bytes of '{item.value}', which the group reads"
    return ""


def rises(index: Index | None) -> bool:
    """Whether a later trip of any loop never means an earlier position."""
    if index is None:
        return True
    return all(
        term.coefficient >= 0 and term.operation != "%" and (term.inner is None or rises(term.inner))
        for term in index.terms
    )
