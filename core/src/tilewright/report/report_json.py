"""Knows how a finished deployment becomes `report.json`: plain data, sorted, the same on every machine.
Does not know how it is printed or drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from tilewright import __version__
from tilewright.allocate.auto import EXACT
from tilewright.allocate.limits import exceeded_bytes
from tilewright.deployment import Deployment
from tilewright.errors import Diagnostic
from tilewright.frontend.reading.model_digest import model_digest
from tilewright.ir.graphs.graph import Node, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.constant_copies import copies_of
from tilewright.ir.plans.stages import Allocated, Bound, Buffer, Group, PoolUse
from tilewright.plan.line_buffers.choice import line_buffers_possible
from tilewright.plan.proposals.constant_copy_costs import copy_cycles
from tilewright.report.covered import covered_bytes
from tilewright.report.front import front_of
from tilewright.report.line_buffers import line_buffer_rows
from tilewright.report.streamed_io import streamed_io
from tilewright.report.tiles import level, traffic_ratio, work
from tilewright.report.time import milliseconds
from tilewright.tile.measure import step_costs

SCHEMA = "https://tilewright.dev/schema/report-1.json"


def build_report(deployment: Deployment, *, artifacts: bool = True, front: bool = False) -> dict[str, Any]:
    """The report of `deployment`, valid against `report-1.schema.json`. Generates the C when `artifacts`, and looks for
    plans in less memory when `front`, which may take as long as all the rest.
    """
    allocated = deployment.allocated
    bound = allocated.tiled.scheduled.bound
    operators = deployment.registry.operators
    held = line_buffer_rows(allocated)
    steps = _steps(allocated, operators)
    totals = {kind: round(sum(step["cycles"][kind] for step in steps)) for kind in ("compute", "copy", "total")}
    return {
        "schema": SCHEMA,
        "tool": {"name": "tilewright", "version": __version__},
        "target": {"name": bound.platform.name, "settings": dict(sorted(bound.platform.settings.items()))},
        "plugins": _plugins(deployment),
        "model": _model(deployment, allocated),
        "status": "ok",
        "plan_id": f"0x{allocated.plan_id:08x}",
        "macs": sum(step["macs"] for step in steps),
        "constants_bytes": sum(array.nbytes for array in bound.constants.values()),
        "cycles": {**totals, "kind": "estimate"},
        **_time(totals["total"], deployment.options.clock_hz),
        "copies": {way: sum(step["copies"][way] for step in steps) for way in ("in_bytes", "out_bytes")},
        "bound_bytes": sum(step["bound_bytes"] for step in steps),
        "traffic_ratio": traffic_ratio(steps),
        "allocation": _allocation(deployment, allocated),
        **_front(deployment, asked=front),
        "order": _order(allocated),
        "away": _away(allocated, "ram"),
        "constants_away": _away(allocated, "const"),
        "staged": _staged(allocated),
        "pools": [_pool(pool, allocated) for pool in allocated.pools],
        "levels": [level(memory, allocated) for memory in bound.platform.memories],
        "steps": steps,
        "buffers": [_buffer(buffer, allocated, held) for buffer in allocated.tiled.buffers],
        "passes": _trail(deployment),
        "diagnostics": [_diagnostic(item) for item in deployment.diagnostics],
        "artifacts": _artifacts(deployment) if artifacts else [],
    }


def _front(deployment: Deployment, *, asked: bool) -> dict[str, Any]:
    """Memory against cycles, where it is asked for; else only where the plan is the one point that there is."""
    if not asked and line_buffers_possible(deployment.planner, deployment.platform):
        return {}
    return {"front": front_of(deployment.front)}


def _time(cycles: int, clock_hz: int | None) -> dict[str, Any]:
    """The same cycles on a clock; nothing where none is known."""
    if clock_hz is None:
        return {}
    return {"time": {"clock_hz": clock_hz, "milliseconds": milliseconds(cycles, clock_hz), "kind": "estimate"}}


def live_bytes(allocated: Allocated) -> list[int]:
    """For each step, the bytes of all buffers that are alive in it, constants excluded; those that two share once."""
    steps = range(len(allocated.tiled.scheduled.steps))
    ours = {pool.name for pool in allocated.tiled.scheduled.bound.platform.memories if pool.managed_by == "tilewright"}
    elsewhere = [0 for _ in steps]
    ranges: list[dict[str, list[tuple[int, int]]]] = [{} for _ in steps]
    for buffer in allocated.tiled.buffers:
        place = allocated.placements.get(buffer.name)
        if buffer.kind == "constant" or place is None:
            continue
        for step in steps[buffer.first : buffer.last + 1]:
            if place.memory in ours:
                taken = (place.offset_bytes, place.offset_bytes + buffer.size_bytes)
                ranges[step].setdefault(place.memory, []).append(taken)
            else:
                elsewhere[step] += buffer.size_bytes
    return [elsewhere[step] + sum(map(covered_bytes, ranges[step].values())) for step in steps]


def _steps(allocated: Allocated, operators: Mapping[str, Operator]) -> list[dict[str, Any]]:
    scheduled = allocated.tiled.scheduled
    bound = scheduled.bound
    live = live_bytes(allocated)
    costs = step_costs(allocated.tiled, operators, allocated.decisions)
    groups = {step: group for group in allocated.tiled.groups for step in group.steps}
    sites = {site.node.name: site for site in bound.graph.sites()}
    executed = {step.name for step in scheduled.steps}
    views = {name: node for node in bound.graph.nodes if node.name not in executed for name in node.outputs}
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
                "peak_bytes": live[index],
                "inputs": list(dict.fromkeys(_written(site.node.inputs, views, bound.graph.constants))),
                "outputs": [
                    {"name": tensor.name, "type": tensor.dtype.value, "shape": list(tensor.shape)}
                    for tensor in site.outputs
                ],
                "in_place": [scheduled.in_place[name] for name in site.node.outputs if name in scheduled.in_place],
                "facts": dict(bound.layers[step.name].facts),
                **_tiles(groups[step.name]),
            }
        )
    return steps


def _written(names: Iterable[str], views: Mapping[str, Node], constants: Container[str]) -> Iterator[str]:
    """The values behind `names` that a step writes or that enter the network: through views, and without constants."""
    for name in names:
        if name in views:
            yield from _written(views[name].inputs, views, constants)
        elif name and name not in constants:
            yield name


def _tiles(group: Group) -> dict[str, Any]:
    return {
        "group": group.name,
        "kept": dict(group.region.resident),
        "inner": {value: held.form for value, held in group.region.internal_values.items()},
        "tile_shape": [
            {"far": hop.outer, "near": hop.inner, "nest": [[loop, size] for loop, size in hop.nest]}
            for hop in group.region.hops
        ],
    }


def _allocation(deployment: Deployment, allocated: Allocated) -> dict[str, Any]:
    """Who was asked, whose plan it is, and whether an exact search was at hand."""
    exact = EXACT in deployment.registry.allocators
    return {
        "allocator": deployment.options.allocator,
        "found_by": allocated.decisions.allocator,
        "exact": EXACT if exact else None,
        "status": "optimal" if all(pool.optimal for pool in allocated.pools) else "feasible",
        "effort": deployment.options.effort,
        "seed": deployment.options.seed,
    }


def _order(allocated: Allocated) -> dict[str, Any]:
    """What the memories that are written take together, and what no order of the steps needs less of."""
    used = sum(pool.used_bytes for pool in allocated.pools if pool.kind == "ram")
    bound = allocated.order_bound_bytes
    return {"used_bytes": used, "lower_bound_bytes": bound, "optimal": used == bound}


def _away(allocated: Allocated, kind: str) -> dict[str, int]:
    """What is not in its first memory."""
    found = [one for one in allocated.away if one.kind == kind]
    return {
        "used_bytes": sum(one.used_bytes for one in found),
        "lower_bound_bytes": sum(one.lower_bound_bytes for one in found),
    }


def _staged(allocated: Allocated) -> list[dict[str, Any]]:
    """Constants that are copied to another memory."""
    bound = allocated.tiled.scheduled.bound
    found = []
    for name, staging in copies_of(allocated.decisions, bound.constants):
        source = bound.platform.memory(allocated.placements[name].memory)
        target = bound.platform.memory(staging.memory)
        readers = [step.name for step in allocated.tiled.scheduled.steps if name in _read_by(step.name, bound)]
        cycles = copy_cycles(bound.constants[name].nbytes, source, target)
        found.append(
            {
                "constant": name,
                "from": source.name,
                "to": target.name,
                "when": staging.when,
                "size_bytes": bound.constants[name].nbytes,
                "steps": readers,
                "copy_cycles": round(cycles) * (len(readers) if staging.when == "use" else 1),
            }
        )
    return found


def _read_by(step: str, bound: Bound) -> tuple[str, ...]:
    return tuple(bound.bindings[step].constants.values())


def _pool(pool: PoolUse, allocated: Allocated) -> dict[str, Any]:
    return {
        "name": pool.memory,
        "kind": pool.kind,
        "used_bytes": pool.used_bytes,
        "limit_bytes": pool.limit_bytes,
        "lower_bound_bytes": pool.lower_bound_bytes,
        "optimal": pool.optimal,
        "gap_bytes": pool.used_bytes - pool.lower_bound_bytes,
        "known": "exact",
        **({"soft": True, "exceeded_bytes": exceeded_bytes(allocated, pool.memory)} if pool.soft else {}),
    }


def _buffer(buffer: Buffer, allocated: Allocated, held: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    place = allocated.placements.get(buffer.name)
    return {
        "name": buffer.name,
        "kind": buffer.kind,
        "pool": place.memory if place else None,
        "offset_bytes": place.offset_bytes if place else None,
        "size_bytes": buffer.size_bytes,
        "align": buffer.align,
        "first_step": buffer.first,
        "last_step": buffer.last,
        "values": list(buffer.values),
        **({"rows": held[buffer.name]} if buffer.name in held else {}),
    }


def _model(deployment: Deployment, allocated: Allocated) -> dict[str, Any]:
    bound, rows = allocated.tiled.scheduled.bound, streamed_io(allocated)

    def ends(names: tuple[str, ...]) -> list[dict[str, Any]]:
        tensors = [bound.graph.tensors[name] for name in names]
        return [
            {
                "name": item.name,
                "type": item.dtype.value,
                "shape": list(item.shape),
                **_quantization(item),
                **({"rows": rows[item.name]} if item.name in rows else {}),
            }
            for item in tensors
        ]

    return {
        "name": deployment.prefix,
        "sha256": model_digest(deployment.model),
        "nodes": len(bound.graph.nodes),
        "inputs": ends(tuple(deployment.inputs)),
        "outputs": ends(tuple(deployment.outputs)),
        "states": [{"input": state.input, "output": state.output} for state in deployment.states],
    }


def _quantization(tensor: Tensor) -> dict[str, Any]:
    """`real = scale * (stored - zero_point)`; nothing for a tensor that is not quantised as a whole."""
    found = tensor.quantization
    whole = found is not None and len(found.scale) == 1
    return {"scale": found.scale[0], "zero_point": found.zero_point[0]} if found and whole else {}


def _plugins(deployment: Deployment) -> list[dict[str, str]]:
    return [asdict(one) for one in deployment.registry.distributions]


def _trail(deployment: Deployment) -> list[dict[str, Any]]:
    return [
        {
            "name": record.name,
            "removed": len(record.removed),
            "added": len(record.added),
            "changed": len(record.changed),
        }
        for record in deployment.rewritten.trail
    ]


def _diagnostic(item: Diagnostic) -> dict[str, Any]:
    return {
        "code": item.code,
        "severity": item.severity,
        "message": item.message,
        "where": item.where,
        "details": list(item.details),
        "fix": list(item.fix),
    }


def _artifacts(deployment: Deployment) -> list[dict[str, Any]]:
    files = deployment.files
    return [
        {"path": path, "bytes": len(files[path]), "sha256": hashlib.sha256(files[path]).hexdigest()}
        for path in sorted(files)
    ]
