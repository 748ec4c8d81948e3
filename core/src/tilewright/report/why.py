"""Knows why a step is what it is: which kernels could compute it, at what cost, which refused and why, and where its
values are. Does not know how any of that was decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tilewright.errors import usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.ir.graphs.graph import Site
from tilewright.ir.plans.stages import Allocated, Binding, Group
from tilewright.report.plain_text import Part, Table

if TYPE_CHECKING:
    from tilewright.deployment import Deployment


def why(deployment: Deployment, name: str, listed_by: str) -> dict[str, Any]:
    """What `tilewright why --json` writes. `name` is a step's, its number in the table of layers, or the name of a node
    of the model which became part of one.

    TilewrightError TW8017 (exit 2) where there is none, with `listed_by` as what to type to see all.
    """
    plan = deployment.allocated
    scheduled = plan.tiled.scheduled
    step = _step_called(plan, name, listed_by)
    binding = scheduled.bound.bindings[step]
    sites = {site.node.name: site for site in scheduled.bound.graph.sites()}
    group = next(group for group in plan.tiled.groups if step in group.steps)
    return {
        "step": step,
        "op": sites[step].node.op,
        "onnx_nodes": list(sites[step].node.origin),
        "rounding": sites[step].node.rounding,
        "engine": binding.engine,
        "kernel": binding.kernel.name,
        "candidates": [
            {
                "kernel": candidate.kernel.name,
                "package": _owner(deployment, candidate.kernel.name),
                "cycles": round(candidate.cycles, 3),
                "chosen": candidate.kernel.name == binding.kernel.name,
            }
            for candidate in binding.candidates
        ],
        "reason": _reason(plan, binding),
        "refusals": [
            {
                "kernel": refusal.candidate,
                "package": _owner(deployment, refusal.candidate),
                "reason": refusal.reason,
            }
            for refusal in binding.refusals
        ],
        "group": {**_group(group), "behind": scheduled.deferred.get(step, "")},
        "places": list(_places(plan, sites[step], binding)),
    }


def why_parts(facts: dict[str, Any]) -> Iterator[Part]:
    """The same for people."""
    nodes = ", ".join(f"'{node}'" for node in facts["onnx_nodes"])
    rounding = f", rounds as {facts['rounding']} does" if facts["rounding"] else ""
    yield f"step '{facts['step']}' ({facts['op']}{rounding}), of the model's nodes {nodes or 'none'}"
    yield f"computed by '{facts['kernel']}' on engine '{facts['engine']}': {facts['reason']}"
    rows = [("candidate", "of one core, whole", "package", "")]
    rows += [
        (each["kernel"], f"{each['cycles']:,.0f} cycles", each["package"], "chosen" if each["chosen"] else "")
        for each in facts["candidates"]
    ]
    yield ""
    yield Table(rows=rows, right=(1,))
    if facts["refusals"]:
        yield ""
        refused = [("refuses", "package", "because")]
        refused += [(each["kernel"], each["package"], each["reason"]) for each in facts["refusals"]]
        yield Table(rows=refused)
    yield ""
    yield _group_text(facts["group"], [step for step in facts["group"]["steps"] if step != facts["step"]])
    if behind := facts["group"]["behind"]:
        hidden = f"{facts['group']['hidden_cycles']:,.0f} cycles are hidden"
        yield f"its engine is waited for behind step '{behind}', beside the steps until there: {hidden}"
    placed = [("value", "is", "memory", "from", "bytes")]
    placed += [
        (each["name"], each["role"], each["memory"] or "the caller's", _at(each["offset_bytes"]), f"{each['bytes']:,}")
        for each in facts["places"]
    ]
    yield Table(rows=placed, right=(3, 4))


def _step_called(plan: Allocated, name: str, listed_by: str) -> str:
    scheduled = plan.tiled.scheduled
    steps = [step.name for step in scheduled.steps]
    if name in steps:
        return name
    origins = {node.name: node.origin for node in scheduled.bound.graph.nodes}
    inside = [step for step in steps if name in origins.get(step, ())]
    if inside:
        return inside[-1]
    if name.isdecimal() and int(name) < len(steps):
        return steps[int(name)]
    known = sorted({*steps, *(origin for step in steps for origin in origins.get(step, ()))})
    view = "it is a view: its output has the bytes of its input, and nothing is computed"
    raise usage_error(
        "TW8017",
        f"no step is called '{name}'",
        details=(view,) if name in origins else did_you_mean(name, known),
        fix=(f"{listed_by}     lists all steps",),
    )


def _owner(deployment: Deployment, kernel: str) -> str:
    owner = deployment.registry.provenance.get(("kernel", kernel))
    return f"{owner.distribution} {owner.version}" if owner else ""


def _reason(plan: Allocated, binding: Binding) -> str:
    """Why this kernel and no other candidate."""
    decided = plan.decisions.kernels.get(binding.node) == binding.kernel.name
    cheapest = binding.candidates[0].kernel.name == binding.kernel.name
    if len(binding.candidates) == 1:
        return "no other kernel takes it"
    if cheapest:
        return "the cheapest that takes it"
    if decided:
        return "cheaper ones do not fit into memory, or make the whole slower, or another one was asked for"
    return f"the cheapest of those that run on engine '{binding.engine}', or together with its neighbours"


def _group(group: Group) -> dict[str, Any]:
    return {
        "steps": list(group.steps),
        "cycles": round(group.cycles, 3),
        "hidden_cycles": round(group.hidden_cycles, 3),
        "claim": group.claim,
        "resident": dict(group.region.resident),
        "hops": [{"outer": hop.outer, "inner": hop.inner, "tiles": dict(hop.nest)} for hop in group.region.hops],
    }


def _group_text(group: dict[str, Any], others: list[str]) -> str:
    whose = f" with {', '.join(repr(step) for step in others)}" if others else ""
    cuts = []
    for hop in group["hops"]:
        loops = ", ".join(f"{loop} by {size}" for loop, size in hop["tiles"].items())
        cuts.append(f"{hop['outer']} -> {hop['inner']}: {loops or 'whole'}")
    return f"tiled{whose}: {'; '.join(cuts) or 'whole'}; estimated at {group['cycles']:,.0f} cycles, copies included"


def _places(plan: Allocated, site: Site, binding: Binding) -> Iterator[dict[str, Any]]:
    """Where inputs, outputs and packed constants of a step are, and the buffers of its group."""
    scheduled = plan.tiled.scheduled
    sizes = {tensor.name: tensor.size_bytes for tensor in (*site.inputs, *site.outputs) if tensor is not None}
    storage = scheduled.storage
    for name in dict.fromkeys((*site.node.inputs, *site.node.outputs)):
        if name in storage:
            role = "output" if name in site.node.outputs else "input"
            place = plan.placements.get(storage[name].buffer)
            offset = None if place is None else place.offset_bytes + storage[name].offset_bytes
            yield _place(name, role, "" if place is None else place.memory, offset, sizes.get(name, 0))
    own = {f"{binding.node}.{operand}": "constant" for operand in binding.constants}
    own |= dict.fromkeys(binding.constants.values(), "constant")
    together = next(group.steps for group in plan.tiled.groups if binding.node in group.steps)
    turns = [number for number, step in enumerate(scheduled.steps) if step.name in together]
    for buffer in plan.tiled.buffers:
        mine = (
            buffer.kind in ("scratch", "tile", "resident", "staged")
            and buffer.first <= turns[-1]
            and turns[0] <= buffer.last
        )
        if buffer.name in own or mine:
            place = plan.placements.get(buffer.name)
            memory, offset = ("", None) if place is None else (place.memory, place.offset_bytes)
            yield _place(buffer.name, own.get(buffer.name, buffer.kind), memory, offset, buffer.size_bytes)


def _place(name: str, role: str, memory: str, offset: int | None, size_bytes: int) -> dict[str, Any]:
    return {"name": name, "role": role, "memory": memory, "offset_bytes": offset, "bytes": size_bytes}


def _at(offset: int | None) -> str:
    return "" if offset is None else f"{offset:,}"
