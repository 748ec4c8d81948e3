"""Knows how a finished deployment becomes `report.json`: plain data, sorted, the same on every machine.
Does not know how it is printed or drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tilewright import __version__
from tilewright.allocate.auto import EXACT
from tilewright.allocate.limits import exceeded_bytes, memory_bytes
from tilewright.deployment import Deployment
from tilewright.errors import Diagnostic
from tilewright.frontend.reading.model_digest import model_digest
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.platform import Memory
from tilewright.ir.plans.constant_copies import copies_of
from tilewright.ir.plans.stages import Allocated, Buffer, PoolUse
from tilewright.plan.line_buffer_bound import line_buffers_possible
from tilewright.plan.proposals.constant_copy_costs import copy_cycles
from tilewright.report.cycles import front_of, milliseconds
from tilewright.report.line_buffers import line_buffer_rows, streamed_io
from tilewright.report.steps import steps_of, traffic_ratio
from tilewright.tile.measure import deepest_stack, step_costs, step_instructions

SCHEMA = "https://tilewright.dev/schema/report-2.json"


def build_report(
    deployment: Deployment, *, artifacts: bool = True, front: bool = False, further: bool = False
) -> dict[str, Any]:
    """The report, valid against `report-2.schema.json`. Generates the C when `artifacts`. Looks for plans in less
    memory when `front`, and for what costs more when `further`, which may take longer than all the rest."""
    allocated = deployment.allocated
    bound = allocated.tiled.scheduled.bound
    steps = _steps(allocated, deployment.registry.operators)
    rows = line_buffer_rows(allocated)
    totals = {kind: round(sum(step["cycles"][kind] for step in steps)) for kind in ("compute", "copy", "total")}
    return {
        "schema": SCHEMA,
        "tool": {"name": "tilewright", "version": __version__},
        "target": {"name": bound.platform.name, "settings": dict(sorted(bound.platform.settings.items()))},
        "plugins": [asdict(distribution) for distribution in deployment.registry.distributions],
        "model": _model(deployment, allocated),
        "status": "ok",
        "plan_id": f"0x{allocated.plan_id:08x}",
        "macs": sum(step["macs"] for step in steps),
        "constants_bytes": sum(array.nbytes for array in bound.constants.values()),
        "cycles": {**totals, "kind": "estimate"},
        **_instructions(steps),
        **_time(totals["total"], deployment.options.clock_hz),
        **_traffic(steps),
        "allocation": _allocation(deployment, allocated),
        **_front(deployment, wanted=front, further=further),
        "order": _order(allocated),
        "spilled": _spilled(allocated, "ram"),
        "spilled_constants": _spilled(allocated, "const"),
        "staged": _staged(allocated),
        "pools": [_pool(pool, allocated) for pool in allocated.pools],
        **_ram(allocated),
        "levels": [level(memory, allocated) for memory in bound.platform.memories],
        "steps": steps,
        "buffers": [_buffer(buffer, allocated, rows) for buffer in allocated.tiled.buffers],
        "passes": _passes(deployment),
        **_moves(deployment),
        "diagnostics": [_diagnostic(item) for item in deployment.diagnostics],
        "artifacts": _artifacts(deployment) if artifacts else [],
    }


def _front(deployment: Deployment, *, wanted: bool, further: bool) -> dict[str, Any]:
    """Memory against cycles, where it is asked for, and `further` points that cost more; else only where the plan is
    the one point that there is.
    """
    if not wanted and line_buffers_possible(deployment.planning.planner, deployment.platform):
        return {}
    return {"front": front_of((*deployment.front, *(deployment.further_front if further else ())))}


def _traffic(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What steps copy, and what they could not copy less of."""
    return {
        "copies": {key: sum(step["copies"][key] for step in steps) for key in ("in_bytes", "out_bytes")},
        "bound_bytes": sum(step["bound_bytes"] for step in steps),
        "traffic_ratio": traffic_ratio(steps),
    }


def _steps(allocated: Allocated, operators: Mapping[str, Operator]) -> list[dict[str, Any]]:
    plan = allocated.tiled, operators, allocated.decisions
    return steps_of(allocated, operators, step_costs(*plan), step_instructions(*plan))


def _instructions(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of all steps, where a target knows them: what a core executes is not what that takes."""
    known = [step["instructions"]["total"] for step in steps if "instructions" in step]
    return {"instructions": {"total": round(sum(known)), "kind": "estimate"}} if known else {}


def _ram(allocated: Allocated) -> dict[str, Any]:
    """All that a run takes of memories that are written: pools, what lasts, and the stack where a target knows it."""
    stack = deepest_stack(allocated.tiled)
    if stack is None:
        return {}
    pools = sum(pool.used_bytes for pool in allocated.pools if pool.kind != "const")
    return {"ram": {"total_bytes": pools + stack, "pools_bytes": pools, "stack_bytes": stack, "kind": "estimate"}}


def _time(cycles: int, clock_hz: int | None) -> dict[str, Any]:
    """The same cycles on a clock; nothing where none is known."""
    if clock_hz is None:
        return {}
    return {"time": {"clock_hz": clock_hz, "milliseconds": milliseconds(cycles, clock_hz), "kind": "estimate"}}


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


def _spilled(allocated: Allocated, kind: str) -> dict[str, int]:
    """Bytes of what is not in the first memory that it may be in."""
    spilled = [use for use in allocated.away if use.kind == kind]
    return {
        "used_bytes": sum(use.used_bytes for use in spilled),
        "lower_bound_bytes": sum(use.lower_bound_bytes for use in spilled),
    }


def _staged(allocated: Allocated) -> list[dict[str, Any]]:
    """Constants that are copied to another memory."""
    bound = allocated.tiled.scheduled.bound
    copies = []
    for name, staging in copies_of(allocated.decisions, bound.constants):
        source = bound.platform.memory(allocated.placements[name].memory)
        target = bound.platform.memory(staging.memory)
        readers = [
            step.name
            for step in allocated.tiled.scheduled.steps
            if name in bound.bindings[step.name].constants.values()
        ]
        cycles = copy_cycles(bound.constants[name].nbytes, source, target)
        copies.append(
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
    return copies


def _pool(pool: PoolUse, allocated: Allocated) -> dict[str, Any]:
    return {
        "name": pool.memory,
        "kind": pool.kind,
        "used_bytes": pool.used_bytes,
        "limit_bytes": pool.limit_bytes,
        "lower_bound_bytes": pool.lower_bound_bytes,
        "optimal": pool.optimal,
        "gap_bytes": pool.used_bytes - pool.lower_bound_bytes,
        **({"soft": True, "exceeded_bytes": exceeded_bytes(allocated, pool.memory)} if pool.soft else {}),
    }


def _buffer(buffer: Buffer, allocated: Allocated, rows: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
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
        **({"rows": rows[buffer.name]} if buffer.name in rows else {}),
    }


def _model(deployment: Deployment, allocated: Allocated) -> dict[str, Any]:
    bound, rows = allocated.tiled.scheduled.bound, streamed_io(allocated)

    def tensors(names: tuple[str, ...]) -> list[dict[str, Any]]:
        return [
            {
                "name": item.name,
                "type": item.dtype.value,
                "shape": list(item.shape),
                **_quantization(item),
                **({"rows": rows[item.name]} if item.name in rows else {}),
            }
            for item in map(bound.graph.tensors.__getitem__, names)
        ]

    return {
        "name": deployment.prefix,
        "sha256": model_digest(deployment.model),
        "nodes": len(bound.graph.nodes),
        "inputs": tensors(tuple(deployment.inputs)),
        "outputs": tensors(tuple(deployment.outputs)),
        "states": [{"input": state.input, "output": state.output} for state in deployment.states],
    }


def _quantization(tensor: Tensor) -> dict[str, Any]:
    """`real = scale * (stored - zero_point)`; nothing for a tensor that is not quantised as a whole."""
    quantization = tensor.quantization
    if quantization is None or len(quantization.scale) != 1:
        return {}
    return {"scale": quantization.scale[0], "zero_point": quantization.zero_point[0]}


def _moves(deployment: Deployment) -> dict[str, Any]:
    """How far decisions have moved outputs, where there are any: on average and at most, over random inputs."""
    return {"moves": [asdict(move) for move in deployment.moves]} if deployment.moves else {}


def _passes(deployment: Deployment) -> list[dict[str, Any]]:
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


def level(memory: Memory, allocated: Allocated) -> dict[str, Any]:
    """One memory of the hierarchy: what the plan and the runtime take of it together."""
    platform = allocated.tiled.scheduled.bound.platform
    runtime = platform.runtime_bytes.get(memory.name, 0)
    planned = memory_bytes(allocated, memory.name)
    return {
        "name": memory.name,
        "limit_bytes": memory.size_bytes,
        "used_bytes": planned + runtime,
        "planned_bytes": planned,
        "runtime_bytes": runtime,
        "inner": memory.name == platform.inner,
    }
