"""Knows the buffers that a group of several steps needs in the near memory, and how long those of its values live.
Does not know how its tiling is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from tilewright.errors import Exit, TilewrightError
from tilewright.stages import Buffer, BufferKind, Group, Step
from tilewright.tile.fuse import Chain, chain_of
from tilewright.tile.fuse_boxes import boxes_of
from tilewright.tile.fuse_cost import group_scratch, traffic_of
from tilewright.tile.spaces import Machine


def tile_buffer_name(step: str, operand: str, memory: str, number: int) -> str:
    """The name that everybody finds a tile buffer by."""
    return f"{step}.{operand}@{memory}#{number}"


def group_chain(machine: Machine, group: Group) -> Chain:
    """The steps of a group of several. TilewrightError TW4042 (exit 5) where they are none."""
    steps = machine.scheduled.steps
    first = next(index for index, step in enumerate(steps) if step.name == group.steps[0])
    chain = chain_of(machine, first, steps[first : first + len(group.steps)])
    if isinstance(chain, str):
        raise not_together([step for step in steps if step.name in group.steps], chain)
    return chain


def not_together(steps: Sequence[Step], reason: str) -> TilewrightError:
    """TW4042 (exit 5): these steps cannot be one group, and why. Another order, or other in-place pairs, may do."""
    return TilewrightError(
        "TW4042",
        f"a group of several steps cannot be tiled together: {reason}",
        where=f"group {', '.join(repr(step.name) for step in steps)}" if steps else "",
        fix=("remove the group from the pinned decisions, or end it before that step",),
        exit_code=Exit.DOES_NOT_FIT,
    )


def group_buffers(machine: Machine, group: Group) -> Iterator[Buffer]:
    """Tile buffers of what travels and of what stays inside, and scratch: all alive only where the sink stands."""
    chain = group_chain(machine, group)
    hop = group.tile.hops[-1]
    for crossing in chain.outer:
        for item in crossing.items:
            name = tile_buffer_name(item.step, item.operand.name, crossing.near, 0)
            yield _buffer(chain, name, "tile", item.size_bytes, crossing.near, crossing.grain)
    boxes = boxes_of(chain, hop.nest, group.tile.inner)
    for one in traffic_of(chain, boxes, hop.copies):
        size = one.item.item_bytes * prod(one.room)
        for number in range(one.copy.buffers):
            name = tile_buffer_name(one.member.step.name, one.item.name, hop.near, number)
            yield _buffer(chain, name, "tile", size, hop.near)
    for number, member in enumerate(chain.members[:-1]):
        size = member.output.item_bytes * prod(boxes.held(number))
        yield _buffer(
            chain, tile_buffer_name(member.step.name, member.output.name, hop.near, 0), "tile", size, hop.near
        )
    scratch = group_scratch(chain, boxes)
    if scratch:
        yield _buffer(chain, f"{group.name}.scratch", "scratch", scratch, hop.near)


def lasting(buffers: Sequence[Buffer], machine: Machine, groups: Sequence[Group]) -> Iterator[Buffer]:
    """The buffers of values: what never leaves a group has none, what a group reads lives until its sink."""
    index = {step.name: number for number, step in enumerate(machine.scheduled.steps)}
    inner = {value for group in groups for value in group.tile.inner}
    until: dict[str, int] = {}
    for group in groups:
        if len(group.steps) > 1:
            for name in group.steps:
                values = (value for value in machine.nodes[name].inputs if value in machine.scheduled.storage)
                until |= {machine.scheduled.storage[value].buffer: index[group.name] for value in values}
    for buffer in buffers:
        if not inner.issuperset(buffer.values):
            yield replace(buffer, last=max(buffer.last, until.get(buffer.name, 0)))


def _buffer(chain: Chain, name: str, kind: BufferKind, size_bytes: int, memory: str, grain: int = 0) -> Buffer:
    at, align = chain.sink.index, grain or chain.grain
    return Buffer(name=name, kind=kind, size_bytes=size_bytes, align=align, first=at, last=at, memories=(memory,))
