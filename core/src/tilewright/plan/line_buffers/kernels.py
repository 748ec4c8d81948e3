"""Knows which kernels are best for steps that are computed row by row: those that take rows, and lose little by it; and
which are fastest for the calls that a plan makes. Does not know how these calls were found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.bind.candidates import engine_of, operations
from tilewright.ir.access.index import bare_loop
from tilewright.ir.access.index_map import Access, Loop, MapAccess
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.platform import Engine
from tilewright.ir.machines.stated_cycles import stated_cycles
from tilewright.ir.plans.layer import Layer, Layers, layer_key
from tilewright.ir.plans.region import LineBuffers, Region
from tilewright.ir.plans.stages import Allocated, Bound, Candidate
from tilewright.tile.cost.kernel_costs import kernel_cycles, scratch_bytes
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import BufferedStep
from tilewright.tile.line_buffers.call_costs import call_cycles
from tilewright.tile.line_buffers.stripes import with_stripes
from tilewright.tile.machine import ScheduledMachine

_ROWS_AXIS = 2  # of images and signals: batch, channels, rows


def line_buffer_kernels(bound: Bound, layers: Layers) -> dict[str, str]:
    """By node, for steps over images and signals, the kernel that takes least where every call computes one row; only
    where that is not the one that is bound.
    """
    result: dict[str, str] = {}
    for site in bound.graph.sites():
        binding = bound.bindings.get(site.node.name)
        if binding is None or len(site.input(0).shape) <= _ROWS_AXIS or len(binding.candidates) < 2:
            continue
        costs = {
            candidate.kernel.name: line_buffered_cycles(
                candidate, site, layers, engine_of(candidate.kernel, bound.platform)
            )
            for candidate in binding.candidates
        }
        best = min(costs, key=lambda name: costs[name])
        if costs[best] < costs[binding.kernel.name]:
            result[site.node.name] = best
    return result


def line_buffered_cycles(candidate: Candidate, site: Site, layers: Layers, engine: Engine) -> float:
    """Of a whole step with one row of the output in each call; infinite where a kernel computes an image in one piece
    only.
    """
    layer = layers.of(candidate.kernel, site, layer_key(site))
    if isinstance(layer, str) or not isinstance(layer.access, MapAccess):
        return float("inf")
    loop = _rows(layer, layer.access)
    if loop is None:
        return candidate.cycles if layer.sums is not None else float("inf")
    tile = layer.tile({**layer.whole.box, loop.name: (0, 1)})
    stated, overhead = stated_cycles(candidate.kernel, engine, tile), call_cycles(candidate.kernel, engine)
    return loop.extent * overhead + (candidate.cycles if stated is None else loop.extent * stated)


def _rows(layer: Layer, access: MapAccess) -> Loop | None:
    """The loop over the rows of the output; None where it has one row, or none."""
    axes = access.axes[access.outputs[0]]
    if len(axes) <= _ROWS_AXIS or axes[_ROWS_AXIS].extent == 1:
        return None
    name = bare_loop(axes[_ROWS_AXIS])
    return next((loop for loop in access.loops if loop.name == name and loop.kind == "parallel"), None)


def kernels_of_calls(plan: Allocated, operators: Mapping[str, Operator], layers: Layers) -> dict[str, str]:
    """By node, for steps whose columns are in stripes, the kernel that is fastest for the calls that the plan makes of
    it, where another is bound: of the same loops and layouts, and with no more scratch than its region has anyway.
    """
    steps = LineBufferAnalysis(ScheduledMachine(plan.tiled.scheduled, operators, plan.decisions))
    result: dict[str, str] = {}
    for region in plan.tiled.regions:
        if region.line_buffers is not None and region.line_buffers.stripes is not None:
            result.update(_fastest(steps, region, region.line_buffers, layers))
    return result


def _fastest(steps: LineBufferAnalysis, region: Region, rows: LineBuffers, layers: Layers) -> Iterator[tuple[str, str]]:
    own = with_stripes(steps, [steps.at(steps.machine.numbers[name]) for name in region.steps], rows.stripes)
    room = max(steps.calls.scratch_bytes(member, trips) for member, trips in zip(own, rows.extents, strict=True))
    bound, over = steps.machine.bound, steps.machine.decisions.in_place
    for step, trips in zip(own, rows.extents, strict=True):
        if over.get(step.step.name):
            continue
        site, binding, now = steps.machine.site(step.step), bound.bindings[step.step.name], bound.layers[step.step.name]
        costs = dict[str, float]()
        for candidate in binding.candidates:
            layer = layers.of(candidate.kernel, site, layer_key(site))
            if isinstance(layer, Layer) and layer.required == now.required and _alike(layer.access, now.access, step):
                cycles, scratch = _calls(steps, step, trips, layer)
                costs.update({candidate.kernel.name: cycles} if scratch <= room else {})
        best = min(costs, key=lambda name: costs[name], default=binding.kernel.name)
        if costs.get(best, 0.0) < costs.get(binding.kernel.name, 0.0):
            yield step.step.name, best


def _alike(access: Access, right: Access, left: BufferedStep) -> bool:
    """Whether the loops through rows and columns are the same, and read the same of what is no constant."""
    if not isinstance(access, MapAccess) or not isinstance(right, MapAccess):
        return False
    names = [name for name in (left.loop, left.columns.loop if left.columns else "") if name]
    mine, theirs = ({loop.name: loop for loop in own.loops} for own in (access, right))
    values = [left.output.name, *(read.operand for read in left.reads)]
    same = all(access.axes.get(name) == right.axes.get(name) for name in values)
    return same and all(mine.get(name) == theirs.get(name) for name in names)


def _calls(steps: LineBufferAnalysis, step: BufferedStep, trips: int, layer: Layer) -> tuple[float, int]:
    """Cycles of all calls of a step with a kernel, and the most scratch of one."""
    machine, kernel = steps.machine, layer.kernel
    site = layer.at(machine.site(step.step))
    engine = machine.engine(kernel.engine or machine.platform.engines[0].name)
    work = operations(kernel, machine.operators[site.node.op], site, machine.platform, engine)
    full, rest = divmod(step.extent, trips)
    cycles, most, columns = 0.0, 0, step.columns.loop if step.columns else ""
    for width in step.widths:
        for count, some in ((full, trips), (1, rest)) if rest else ((full, trips),):
            call_extents = {step.loop: some, columns: width}
            extents = {loop.name: call_extents.get(loop.name, loop.extent) for loop in layer.access.loops}
            cycles += count * kernel_cycles(kernel, site, layer.access, work, extents, engine)
            most = max(most, scratch_bytes(kernel, site, layer.access, extents, engine.cores)[1])
    return cycles, most
