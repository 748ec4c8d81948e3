"""Knows the `tile` stage: groups from a tiler, then every buffer that will exist, with candidates and final size.
Does not know offsets. After this stage no footprint changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.decisions import Decisions
from tilewright.kernel import TileShape
from tilewright.operands import input_operands, kernel_access
from tilewright.operator import Operator
from tilewright.platform import Platform
from tilewright.stages import Binding, Bound, Buffer, Group, Scheduled, Tiled
from tilewright.tile.tiler import Tiler, TilingRequest


def tile(scheduled: Scheduled, operators: Mapping[str, Operator], tiler: Tiler, decisions: Decisions) -> Tiled:
    """Ask `tiler` for groups, then list every buffer: values, scratch, constants.

    Candidates are all memories that would do; a memory that is pinned is chosen among them by `allocate`.
    """
    groups = tiler.plan(TilingRequest(scheduled=scheduled, operators=operators, decisions=decisions))
    _check_cover(groups, scheduled)
    demands = _kernel_memories(scheduled.bound, operators)
    platform = scheduled.bound.platform
    values = tuple(
        replace(buffer, memories=_candidates(buffer, platform, demands, decisions)) for buffer in scheduled.buffers
    )
    return Tiled(
        scheduled=scheduled,
        groups=groups,
        buffers=(*values, *_scratch(scheduled, operators), *_constants(scheduled)),
    )


def _check_cover(groups: tuple[Group, ...], scheduled: Scheduled) -> None:
    covered = [step for group in groups for step in group.steps]
    if covered != [step.name for step in scheduled.steps]:
        raise ValueError("the tiler's groups do not cover every step once, in order")


def _kernel_memories(bound: Bound, operators: Mapping[str, Operator]) -> dict[str, tuple[str, ...]]:
    """Value -> the memories its kernels can reach, where any kernel is particular."""
    demands: dict[str, tuple[str, ...]] = {}
    for site in bound.graph.sites():
        binding, operator = bound.bindings[site.node.name], operators[site.node.op]
        named = {source.operand: source.tensor for source in input_operands(operator, binding.kernel, site)}
        named |= dict(zip(operator.outputs, site.node.outputs, strict=False))
        for operand, allowed in binding.kernel.memories.items():
            value = named.get(operand, "")
            if value:
                known = demands.get(value, allowed)
                demands[value] = tuple(memory for memory in allowed if memory in known)
    return demands


def _candidates(
    buffer: Buffer, platform: Platform, demands: Mapping[str, tuple[str, ...]], decisions: Decisions
) -> tuple[str, ...]:
    for value in buffer.values:
        if decisions.io.get(value) == "user":
            return ()  # the caller's memory: not ours to place
    names = [memory.name for memory in platform.of_kind("ram")]
    for value in buffer.values:
        if value in demands:
            names = [name for name in names if name in demands[value]]
    return tuple(names)


def _scratch(scheduled: Scheduled, operators: Mapping[str, Operator]) -> list[Buffer]:
    bound = scheduled.bound
    buffers = []
    for index, step in enumerate(scheduled.steps):
        size = _scratch_bytes(bound, bound.bindings[step.name], operators)
        if size:
            buffers.append(
                Buffer(
                    name=f"{step.name}.scratch",
                    kind="scratch",
                    size_bytes=size,
                    align=max(bound.platform.buffer_align, 8),
                    first=index,
                    last=index,
                    memories=tuple(memory.name for memory in bound.platform.of_kind("ram")),
                )
            )
    return buffers


def _scratch_bytes(bound: Bound, binding: Binding, operators: Mapping[str, Operator]) -> int:
    node = next(node for node in bound.graph.nodes if node.name == binding.node)
    site = bound.graph.site(node)
    access = kernel_access(operators[node.op], binding.kernel, site)
    box = {loop.name: (0, loop.extent) for loop in access.loops}
    return binding.kernel.scratch_bytes(TileShape(site=site, access=access, box=box))


def _constants(scheduled: Scheduled) -> list[Buffer]:
    platform = scheduled.bound.platform
    final = max(len(scheduled.steps) - 1, 0)
    memories = tuple(memory.name for memory in platform.of_kind("const"))
    return [
        Buffer(
            name=name,
            kind="constant",
            size_bytes=array.nbytes,
            align=max(platform.buffer_align, array.dtype.itemsize),
            first=0,
            last=final,
            memories=memories,
        )
        for name, array in scheduled.bound.constants.items()
    ]
