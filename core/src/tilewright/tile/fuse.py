"""Knows which steps can be tiled together, how their values hang together, and why others cannot.
Does not know tiles (`fuse_boxes`), costs, or which groups are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.access import MapAccess
from tilewright.graph import Graph
from tilewright.index import Index, bare_loop
from tilewright.stages import Step
from tilewright.tile.space import Space, touched_bytes
from tilewright.tile.spaces import NOTHING, Machine, OperandOf


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
    output: OperandOf
    inside: Mapping[str, int]  # operand -> number of the member that computes it
    readers: tuple[Reader, ...]  # of the output; none for the sink
    loops: tuple[str, ...]  # one for each axis of the output; "" where a call always writes the whole axis

    @property
    def access(self) -> MapAccess:
        """The index map of the step's kernel."""
        return self.space.access  # type: ignore[return-value]  # `chain_of` takes no other


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Steps that can be tiled together. The last is the sink."""

    members: tuple[Member, ...]
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


def copy_key(step: str, operand: str, steps: int) -> str:
    """What an operand is called in `HopTile.copies`: in a group of one its name is enough."""
    return operand if steps == 1 else f"{step}.{operand}"


def chain_of(
    machine: Machine, index: int, steps: Sequence[Step], kept: Mapping[str, str] = NOTHING, taken_bytes: int = 0
) -> Chain | str:
    """The steps from `index` on as a group, or a sentence that says why they are none.

    `kept` has buffers that are elsewhere than decided, and their memory; they take `taken_bytes` of the near one.
    """
    if len(machine.hops) != 1:
        return "several steps are tiled together only where one copy leads from the home memory to the near one"
    made = {output: number for number, step in enumerate(steps) for output in machine.site(step).node.outputs}
    for number, step in enumerate(steps):
        reason = _unfit(machine, step) or (_unheld(machine, step, steps) if number + 1 < len(steps) else "")
        if reason:
            return f"step '{step.name}': {reason}"
    members = tuple(_member(machine, index + number, number, steps, made, kept) for number in range(len(steps)))
    room = _room(machine, members)
    chain = Chain(
        members=members,
        room_bytes=None if room is None else room - taken_bytes,
        grain=members[0].space.grain,
    )
    return _in_each_others_way(machine, chain) or chain


def _unfit(machine: Machine, step: Step) -> str:
    """Why a step can be in no group."""
    node, access = machine.site(step).node, machine.access(step)
    if not isinstance(access, MapAccess):
        return "its windows are no index map"
    if len(node.outputs) != 1 or len(step.nodes) != 1:
        return "it is more than one node, or has more than one output"
    if any(0 in operand.shape for operand in machine.operands(step)):
        return "it computes nothing"
    return ""


def _unheld(machine: Machine, step: Step, steps: Sequence[Step]) -> str:
    """Why the output of a step cannot stay inside the group."""
    graph = machine.bound.graph
    (value,) = machine.site(step).node.outputs
    if value in graph.outputs:
        return f"'{value}' is an output of the graph"
    names = {one.name for one in steps}
    outside = [name for name in _readers(graph, value) if name not in names]
    if outside:
        return f"'{outside[0]}' reads '{value}' too, and is not in the group"
    access = machine.access(step)
    if isinstance(access, MapAccess):
        (output,) = access.outputs
        if any(not _is_loop(axis.index, bare_loop(axis), axis.extent) for axis in access.axes[output]):
            return f"{output} is not written with one loop to each axis"
    near = machine.platform.near
    users = [step, *(one for one in steps if value in machine.site(one).node.inputs)]
    for user in users:
        memories = machine.bound.bindings[user.name].kernel.memories
        for operand in machine.operands(user):
            if operand.value == value and near not in memories.get(operand.name, (near,)):
                return f"'{user.name}' wants '{value}' in another memory than '{near}'"
    return ""


def _is_loop(index: Index | None, loop: str, extent: int) -> bool:
    return index is None or bool(loop) or (extent == 1 and not index.terms)


def _readers(graph: Graph, value: str) -> list[str]:
    return [node.name for node in graph.nodes if value in node.inputs]


def _member(
    machine: Machine,
    index: int,
    number: int,
    steps: Sequence[Step],
    made: Mapping[str, int],
    kept: Mapping[str, str],
) -> Member:
    (hop,) = machine.hops
    step = steps[number]
    space = machine.space(index, step, (hop.far, hop.near), kept=kept)
    operands = machine.operands(step, kept)
    inside = {item.name: made[item.value] for item in operands if not item.written and item.value in made}
    output = next(item for item in operands if item.written)
    at_home = {*inside, *([output.name] if number + 1 < len(steps) else [])}
    readers = tuple(
        Reader(member=at, operand=item.name)
        for at, one in enumerate(steps)
        for item in machine.operands(one)
        if item.value == output.value and not item.written
    )
    axes = space.access.axes[output.name] if isinstance(space.access, MapAccess) else ()
    return Member(
        index=index,
        step=step,
        space=_without(space, at_home),
        output=output,
        inside=inside,
        readers=readers,
        loops=tuple(bare_loop(axis) for axis in axes),
    )


def _without(space: Space, at_home: set[str]) -> Space:
    """The space with operands that stay in the group: they do not travel, but would, layer by layer."""
    spared = (item for item in space.travellers if item.name in at_home)
    return replace(
        space,
        travellers=tuple(item for item in space.travellers if item.name not in at_home),
        spared_bytes=space.spared_bytes
        + sum(touched_bytes(space.access, item.name, item.item_bytes) for item in spared),
    )


def _room(machine: Machine, members: Sequence[Member]) -> int | None:
    (hop,) = machine.hops
    rooms = [machine.room_bytes(hop.near, member.index) for member in members]
    known = [room for room in rooms if room is not None]
    return min(known) if known else None


def _in_each_others_way(machine: Machine, chain: Chain) -> str:
    """Indices that do not rise, and outputs over inputs."""
    for member in chain.members:
        for operand, maker in member.inside.items():
            moved = {loop for loop in chain.members[maker].loops if loop}
            if moved and not all(rises(axis.index) for axis in member.access.axes[operand]):
                return f"step '{member.step.name}': it reads {operand} with an index that does not rise with its loops"
    sink = chain.sink.output
    for member in chain.members:
        for item in machine.operands(member.step):
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
