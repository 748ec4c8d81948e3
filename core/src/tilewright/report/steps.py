"""Knows what a report says of each step: its kernel, work, tiles and transfers, and the bytes alive while it runs.
Does not know how any of that was chosen or estimated.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tilewright.ir.graphs.graph import Node, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.graphs.stored_sites import stored_values
from tilewright.ir.plans.stages import Allocated, Group, Tiled
from tilewright.ir.tensors.stored_form import StoredValue

if TYPE_CHECKING:
    from tilewright.tile.cost.region_cost import HopCost

    Costs = Mapping[str, tuple[HopCost, ...]]


def steps_of(
    allocated: Allocated, operators: Mapping[str, Operator], costs: Costs, executed: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Every step of a plan, in the order of execution; `costs` has those of each step, one for each hop; `executed`
    the instructions of groups, by their last steps, where they are known.
    """
    scheduled = allocated.tiled.scheduled
    bound = scheduled.bound
    live = live_bytes(allocated)
    groups = {step: group for group in allocated.tiled.groups for step in group.steps}
    sites = {site.node.name: site for site in bound.graph.sites()}
    names = {step.name for step in scheduled.steps}
    views = {name: node for node in bound.graph.nodes if node.name not in names for name in node.outputs}
    stored = stored_values(bound.graph, operators)
    steps = []
    for index, step in enumerate(scheduled.steps):
        site, binding = sites[step.name], bound.bindings[step.name]
        steps.append(
            {
                "id": index,
                "name": step.name,
                "op": site.node.op,
                "onnx_nodes": list(site.node.origin),
                "engine": binding.engine,
                "kernel": binding.kernel.name,
                "macs": operators[site.node.op].macs(site),
                **work(step.name, groups[step.name], costs[step.name]),
                **_instructions(step.name, executed),
                "peak_bytes": live[index],
                "inputs": list(dict.fromkeys(_written(site.node.inputs, views, bound.graph.constants))),
                "outputs": [_output(tensor, stored.get(tensor.name)) for tensor in site.outputs],
                "in_place": [scheduled.in_place[name] for name in site.node.outputs if name in scheduled.in_place],
                "facts": dict(bound.layers[step.name].facts),
                **_tiling(groups[step.name]),
                **_beside(index, step.name, allocated.tiled),
            }
        )
    return steps


def _output(tensor: Tensor, value: StoredValue | None) -> dict[str, Any]:
    """With its form, where it is stored in one of its own, and what of it is padding."""
    shown: dict[str, Any] = {"name": tensor.name, "type": tensor.dtype.value, "shape": list(tensor.shape)}
    if value is None:
        return shown
    padding = tensor.size_bytes - replace(tensor, shape=value.shape).size_bytes
    return {**shown, "stored": str(value.stored), "padding_bytes": padding}


def _written(names: Iterable[str], views: Mapping[str, Node], constants: Container[str]) -> Iterator[str]:
    """The values behind `names` that a step writes or that enter the network: through views, and without constants."""
    for name in names:
        if name in views:
            yield from _written(views[name].inputs, views, constants)
        elif name and name not in constants:
            yield name


def _instructions(step: str, executed: Mapping[str, float]) -> dict[str, Any]:
    """Nothing where no instructions are known; of several steps together the last has all."""
    return {"instructions": {"total": executed.get(step, 0.0), "kind": "estimate"}} if executed else {}


def _beside(index: int, step: str, tiled: Tiled) -> dict[str, Any]:
    """The steps that run while an engine computes one, where it is waited for behind a later one."""
    last = tiled.completed[step]
    return {"beside": list(range(index + 1, last + 1))} if step in tiled.scheduled.deferred else {}


def _tiling(group: Group) -> dict[str, Any]:
    """The group of a step, values that stay in a scratchpad, and the loops that are cut on each hop."""
    return {
        "group": group.name,
        "resident": dict(group.region.resident),
        "internal_values": {value: internal.form for value, internal in group.region.internal_values.items()},
        "tile_shape": [
            {"outer": hop.outer, "inner": hop.inner, "nest": [[loop, size] for loop, size in hop.nest]}
            for hop in group.region.hops
        ],
    }


def work(step: str, group: Group, costs: Sequence[HopCost]) -> dict[str, Any]:
    """Tiles, bytes and cycles of a step. Copies are those between the scratchpad and the memory before it.

    Of several steps tiled together the last has everything. The total is without what is hidden beside other steps.
    """
    if not costs:
        spent = group.cycles if step == group.name else 0.0
        hidden = {"hidden": group.hidden_cycles} if group.hidden_cycles else {}
        cycles = {"compute": spent + group.hidden_cycles, "copy": 0.0, "total": spent, **hidden, "kind": "estimate"}
        return {"tiles": 1, "copies": {"in_bytes": 0, "out_bytes": 0}, "bound_bytes": 0, "cycles": cycles, "hops": []}
    hops = [
        {
            "outer": hop.outer,
            "inner": hop.inner,
            "tiles": cost.tiles,
            "in_bytes": cost.in_bytes,
            "out_bytes": cost.out_bytes,
            "bound_bytes": cost.bound_bytes,
            "buffer_bytes": cost.scratchpad_bytes,
            "copy_cycles": cost.copy_cycles,
        }
        for hop, cost in zip(group.region.hops, costs, strict=True)
    ]
    last = costs[-1]
    return {
        "tiles": last.tiles,
        "copies": {"in_bytes": last.in_bytes, "out_bytes": last.out_bytes},
        "bound_bytes": last.bound_bytes,
        "cycles": {
            "compute": last.compute_cycles,
            "copy": sum(cost.copy_cycles for cost in costs),
            "total": costs[0].total_cycles - group.hidden_cycles,
            **({"hidden": group.hidden_cycles} if group.hidden_cycles else {}),
            "kind": "estimate",
        },
        "hops": hops,
        **({"claim": group.claim} if group.claim else {}),
    }


def traffic_ratio(steps: Sequence[Mapping[str, Any]]) -> float | None:
    """Bytes moved over what would move if every element were copied once, layer by layer; None where nothing would."""
    bound = sum(step["bound_bytes"] for step in steps)
    moved = sum(step["copies"]["in_bytes"] + step["copies"]["out_bytes"] for step in steps)
    return round(moved / bound, 4) if bound else None


def live_bytes(allocated: Allocated) -> list[int]:
    """For each step, the bytes of all buffers that are alive in it, constants excluded; bytes of two buffers once."""
    steps = range(len(allocated.tiled.scheduled.steps))
    pools = {pool.name for pool in allocated.tiled.scheduled.bound.platform.memories if pool.managed_by == "tilewright"}
    outside = [0 for _ in steps]
    ranges: list[dict[str, list[tuple[int, int]]]] = [{} for _ in steps]
    for buffer in allocated.tiled.buffers:
        place = allocated.placements.get(buffer.name)
        if buffer.kind == "constant" or place is None:
            continue
        for step in steps[buffer.first : buffer.last + 1]:
            if place.memory in pools:
                taken = (place.offset_bytes, place.offset_bytes + buffer.size_bytes)
                ranges[step].setdefault(place.memory, []).append(taken)
            else:
                outside[step] += buffer.size_bytes
    return [outside[step] + sum(map(covered_bytes, ranges[step].values())) for step in steps]


def covered_bytes(ranges: Iterable[tuple[int, int]]) -> int:
    """Bytes in any of the half-open ranges of addresses, each once; none begins below 0."""
    total = end = 0
    for low, high in sorted(ranges):
        total += max(0, high - max(low, end))
        end = max(end, high)
    return total
