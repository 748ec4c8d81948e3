"""Knows the buffers that tilings need: tile buffers and scratch in near memories, with sizes and lifetimes.
Does not know how tilings are found.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.decisions import HopTile
from tilewright.stages import Buffer, Group, Step
from tilewright.tile.cost import cuts_of, scratch_bytes
from tilewright.tile.fuse_buffers import group_buffers, tile_buffer_name
from tilewright.tile.space import Space, WindowTable
from tilewright.tile.spaces import Machine
from tilewright.tile.sums import SUMS, sums_bytes

__all__ = ["hop_spaces", "scratch_buffer", "tile_buffer_name", "tile_buffers"]


def tile_buffers(machine: Machine, groups: tuple[Group, ...]) -> Iterator[Buffer]:
    """The tile buffers of all groups, in order; of groups of several steps their scratch, too."""
    index = {step.name: number for number, step in enumerate(machine.scheduled.steps)}
    steps = {step.name: step for step in machine.scheduled.steps}
    for group in groups:
        if len(group.steps) > 1:
            yield from group_buffers(machine, group)
            continue
        life = index[group.steps[0]], index[group.steps[-1]]
        for name in group.steps:
            for hop, space in hop_spaces(machine, index[name], steps[name], group.tile.hops):
                yield from _hop_buffers(machine, space, hop, life)


def hop_spaces(machine: Machine, index: int, step: Step, hops: tuple[HopTile, ...]) -> Iterator[tuple[HopTile, Space]]:
    """Every hop of a tiled step with what it can do: a hop begins with the tile of the hop around it."""
    outer: tuple[HopTile, ...] = ()
    for hop in hops:
        yield hop, machine.hop_space(index, step, hop, outer)
        outer = (*outer, hop)


def _hop_buffers(machine: Machine, space: Space, hop: HopTile, life: tuple[int, int]) -> Iterator[Buffer]:
    table = WindowTable(space)
    for operand in space.travellers:
        copy = hop.copies.get(operand.name)
        if copy is None:
            continue
        size = operand.item_bytes
        for extent in table.windows(operand, cuts_of(hop, copy.depth)).room:
            size *= extent
        for number in range(copy.buffers):
            yield _tile_buffer(space, operand.name, hop, number, size, life)
    size = sums_bytes(space, dict(hop.nest), table)
    if size:
        yield _tile_buffer(space, SUMS, hop, 0, size, life)


def _tile_buffer(space: Space, operand: str, hop: HopTile, number: int, size: int, life: tuple[int, int]) -> Buffer:
    return Buffer(
        name=tile_buffer_name(space.site.node.name, operand, hop.near, number),
        kind="tile",
        size_bytes=size,
        align=space.grain,
        first=life[0],
        last=life[1],
        memories=(hop.near,),
    )


def scratch_buffer(machine: Machine, index: int, step: Step, hops: tuple[HopTile, ...]) -> Buffer | None:
    """The scratch of a step's kernel, for all cores; in the near memory where the step is tiled."""
    site, binding, access = machine.site(step), machine.bound.bindings[step.name], machine.access(step)
    engine = next(engine for engine in machine.platform.engines if engine.name == binding.engine)
    extents = {loop.name: loop.extent for loop in access.loops}
    for hop in hops:
        extents |= {name: min(size, extents[name]) for name, size in hop.nest}
    _, size = scratch_bytes(binding.kernel, site, access, extents, engine.cores)
    if not size:
        return None
    return Buffer(
        name=f"{step.name}.scratch",
        kind="scratch",
        size_bytes=size,
        align=max(machine.platform.buffer_align, 8),
        first=index,
        last=index,
        memories=(hops[-1].near,) if hops else machine.homes,
    )
