"""Knows what every stage promises of the value it returns, and says which promise is broken.
Does not know how a stage works. A broken promise is a bug of tilewright or of a plugin, never of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TypeVar

from tilewright.check.plans.plan import plan_faults
from tilewright.check.tiling import check_tiles
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.plan_id import plan_id
from tilewright.ir.plans.stages import Allocated, Binding, Bound, Buffer, PoolUse, Scheduled, Tiled
from tilewright.ir.tensors.layout import row_major, same_bytes

_Value = TypeVar("_Value", Graph, Bound, Scheduled, Tiled, Allocated)
_MOST_SHOWN = 8


def verify_graph(graph: Graph) -> Graph:
    """The graph, in normal form. TilewrightError TW9010 otherwise."""
    return _verified(graph, _graph_faults(graph), "TW9010", "graph")


def verify_bound(bound: Bound) -> Bound:
    """Every node has a kernel that accepts it, every value a layout. TilewrightError TW9011 otherwise."""
    return _verified(bound, _bound_faults(bound), "TW9011", "bind")


def verify_scheduled(scheduled: Scheduled) -> Scheduled:
    """Steps run after what they read; buffers hold their values as long as needed. TilewrightError TW9012 otherwise."""
    return _verified(scheduled, _scheduled_faults(scheduled), "TW9012", "schedule")


def verify_tiled(tiled: Tiled, operators: Mapping[str, Operator] | None = None) -> Tiled:
    """Groups cover the steps; every buffer is there and has legal candidates. TilewrightError TW9013 otherwise.

    With `operators` every tile is gone through as well.
    """
    faults = tuple(_tiled_faults(tiled))
    return _verified(tiled, faults or (check_tiles(tiled, operators) if operators else ()), "TW9013", "tile")


def verify_allocated(allocated: Allocated, operators: Mapping[str, Operator]) -> Allocated:
    """Every byte that is read holds what was written for it. TilewrightError TW9014 otherwise."""
    return _verified(allocated, _allocated_faults(allocated, operators), "TW9014", "allocate")


def _verified(value: _Value, faults: Iterable[str], code: str, stage: str) -> _Value:
    broken = tuple(faults)
    if not broken:
        return value
    raise TilewrightError(
        code,
        f"the result of stage '{stage}' is not sound: {broken[0]}",
        details=broken[1:_MOST_SHOWN],
        fix=("report this: it is a bug of tilewright, or of the plugin named above",),
        exit_code=Exit.INTERNAL,
    )


def _graph_faults(graph: Graph) -> Iterator[str]:
    absent = [name for name in (*graph.inputs, *graph.outputs, *graph.constants) if name not in graph.tensors]
    if absent:
        yield f"'{absent[0]}' has no type"
        return
    try:
        graph.verify()
    except ValueError as error:
        yield str(error)


def _bound_faults(bound: Bound) -> Iterator[str]:
    yield from _graph_faults(bound.graph)
    nodes = {node.name: node for node in bound.graph.nodes}
    for name, binding in bound.bindings.items():
        if name not in nodes or binding.node != name:
            yield f"binding '{name}' is for node '{binding.node}', which the graph does not have"
            return
    yield from (f"node '{name}' has no kernel" for name in sorted(nodes.keys() - bound.bindings.keys()))
    for node in bound.graph.nodes:
        yield from _chain_faults(bound.graph, node) if node.links else ()
    for binding in bound.bindings.values():
        yield from _binding_faults(bound, binding, nodes[binding.node])
    yield from _layout_faults(bound)


def _chain_faults(graph: Graph, node: Node) -> Iterator[str]:
    """A chain is its nodes, each of which reads what the one before writes, and that is nowhere else."""
    if "+".join(link.node.op for link in node.links) != node.op or node.links[-1].node.outputs != node.outputs:
        yield f"chain '{node.name}' is not of the nodes that it links"
    for before, after in pairwise(node.links):
        if after.node.inputs.count(before.output.name) != 1 or before.node.outputs != (before.output.name,):
            yield f"chain '{node.name}': '{after.node.name}' does not read once what '{before.node.name}' writes"
        if before.output.name in graph.tensors:
            yield f"chain '{node.name}': '{before.output.name}' is inside, and a value of the graph"
    inner = {link.output.name for link in node.links[:-1]}
    read = [name for link in node.links for name in link.node.inputs if name and name not in inner]
    if read != [name for name in node.inputs if name]:
        yield f"chain '{node.name}' does not read what its nodes read"


def _binding_faults(bound: Bound, binding: Binding, node: Node) -> Iterator[str]:
    kernel, platform = binding.kernel, bound.platform
    if kernel.computes != node.op:
        yield f"node '{node.name}' is a {node.op}, kernel '{kernel.name}' computes {kernel.computes}"
        return
    if not platform.runs(kernel.target):
        yield f"kernel '{kernel.name}' of node '{node.name}' is for target '{kernel.target}'"
    if binding.engine not in {engine.name for engine in platform.engines}:
        yield f"node '{node.name}' runs on '{binding.engine}', which target '{platform.name}' does not have"
    if kernel.name not in {candidate.kernel.name for candidate in binding.candidates}:
        yield f"kernel '{kernel.name}' is not among the candidates of node '{node.name}'"
    layer = bound.layers.get(node.name)
    if layer is None or layer.kernel is not kernel:
        answer = kernel.match(bound.graph.site(node))
        yield f"kernel '{kernel.name}' refuses node '{node.name}': {answer if isinstance(answer, str) else 'not asked'}"
    for operand, name in binding.constants.items():
        if name not in bound.constants:
            yield f"operand {operand} of node '{node.name}' is constant '{name}', which is not stored"


def _layout_faults(bound: Bound) -> Iterator[str]:
    graph = bound.graph
    for name, tensor in graph.tensors.items():
        layout = bound.layouts.get(name)
        if layout is None:
            if name not in graph.constants:
                yield f"value '{name}' has no layout"
        elif sorted(layout) != list(range(len(tensor.shape))):
            yield f"layout {layout} of '{name}' is no order of its {len(tensor.shape)} axes"


def _scheduled_faults(scheduled: Scheduled) -> Iterator[str]:
    graph = scheduled.bound.graph
    names = [name for step in scheduled.steps for name in step.nodes]
    nodes = {node.name: node for node in graph.nodes}
    unknown = [name for name, count in Counter(names).items() if name not in nodes or count > 1]
    if unknown:
        yield f"node '{unknown[0]}' is in two steps, or not in the graph"
        return
    yield from (
        f"step '{step.name}' is not named after its last node"
        for step in scheduled.steps
        if step.nodes[-1:] != (step.name,) or step.name not in scheduled.bound.bindings
    )
    yield from _order_faults(scheduled)
    yield from _storage_faults(scheduled)
    if any(name not in graph.tensors for pair in scheduled.in_place.items() for name in pair):
        yield "an in-place pair names a value that the graph does not have"


def _order_faults(scheduled: Scheduled) -> Iterator[str]:
    """Nodes that are not executed count as soon as their inputs are there."""
    graph = scheduled.bound.graph
    executed = {name for step in scheduled.steps for name in step.nodes}
    views = {
        name: [node for node in readers if node.name not in executed] for name, readers in graph.consumers().items()
    }
    nodes = {node.name: node for node in graph.nodes}
    known = {"", *graph.inputs, *graph.constants}

    def follow_views(written: Iterable[str]) -> None:
        pending = [node for name in written for node in views.get(name, ())]
        while pending:
            node = pending.pop()
            if known.issuperset(node.inputs):
                new = [name for name in node.outputs if name not in known]
                known.update(new)
                pending.extend(reader for name in new for reader in views[name])

    follow_views((*graph.inputs, *graph.constants))
    for step in scheduled.steps:
        for node in (nodes[name] for name in step.nodes):
            missing = [name for name in node.inputs if name not in known]
            if missing:
                yield f"step '{step.name}' reads '{missing[0]}' before it is written"
            known.update(node.outputs)
            follow_views(node.outputs)
    yield from (f"output '{name}' is never written" for name in graph.outputs if name not in known)


def _storage_faults(scheduled: Scheduled) -> Iterator[str]:
    graph = scheduled.bound.graph
    yield from _twice((buffer.name for buffer in scheduled.buffers), "buffer")
    buffers = {buffer.name: buffer for buffer in scheduled.buffers}
    for value, storage in scheduled.storage.items():
        buffer = buffers.get(storage.buffer)
        if buffer is None or value not in graph.tensors:
            yield f"value '{value}' is stored in '{storage.buffer}', which is no buffer, or is no value"
            return
        tensor = graph.tensors[value]
        if not 0 <= storage.offset_bytes <= buffer.size_bytes - tensor.size_bytes:
            yield f"value '{value}' does not fit at {storage.offset_bytes} of buffer '{buffer.name}'"
        if storage.offset_bytes % tensor.dtype.size_bytes:
            yield f"value '{value}' at {storage.offset_bytes} of buffer '{buffer.name}' is not aligned"
        if value not in buffer.values:
            yield f"buffer '{buffer.name}' does not name '{value}', which is stored in it"
    for value, first, last in _uses(scheduled):
        if value not in scheduled.storage:
            yield f"value '{value}' is read or written, but stored nowhere"
            continue
        buffer = buffers[scheduled.storage[value].buffer]
        if first < buffer.first or last > buffer.last:
            yield f"buffer '{buffer.name}' lives {buffer.first}..{buffer.last}, '{value}' needs it {first}..{last}"


def _uses(scheduled: Scheduled) -> Iterator[tuple[str, int, int]]:
    """Values with the first and the last step at which they must be in memory."""
    graph, final = scheduled.bound.graph, max(len(scheduled.steps) - 1, 0)
    nodes = {node.name: node for node in graph.nodes}
    yield from ((name, 0, 0) for name in graph.inputs)
    yield from ((name, final, final) for name in graph.outputs if name not in graph.constants)
    numbers = {step.name: index for index, step in enumerate(scheduled.steps)}
    for index, step in enumerate(scheduled.steps):
        ends = numbers[scheduled.deferred.get(step.name, step.name)]
        made = {name for node in step.nodes[:-1] for name in nodes[node].outputs}
        for node in (nodes[name] for name in step.nodes):
            for name in (*node.inputs, *node.outputs):
                if name and name not in graph.constants and name not in made:
                    yield name, index, ends


def _tiled_faults(tiled: Tiled) -> Iterator[str]:
    scheduled = tiled.scheduled
    if [name for group in tiled.groups for name in group.steps] != [step.name for step in scheduled.steps]:
        yield "the groups do not cover every step once, in order"
    yield from _twice((buffer.name for buffer in tiled.buffers), "buffer")
    buffers = {buffer.name: buffer for buffer in tiled.buffers}
    inner = scheduled.with_views({value for group in tiled.groups for value in group.region.unmaterialised})
    for before in scheduled.buffers:
        after = buffers.get(before.name)
        if after is None:
            if not inner.issuperset(before.values):
                yield f"buffer '{before.name}' is gone, though not all of its values stay inside a group"
        elif after.size_bytes < before.size_bytes or after.first > before.first or after.last < before.last:
            yield f"buffer '{before.name}' has become smaller or lives shorter"
    for name, array in scheduled.bound.constants.items():
        if name not in buffers or buffers[name].kind != "constant" or buffers[name].size_bytes < array.nbytes:
            yield f"constant '{name}' has no buffer of its size"
    for buffer in tiled.buffers:
        yield from _buffer_faults(buffer, tiled)


def _buffer_faults(buffer: Buffer, tiled: Tiled) -> Iterator[str]:
    bound = tiled.scheduled.bound
    memories = {memory.name: memory for memory in bound.platform.memories}
    ends = (*bound.graph.inputs, *bound.graph.outputs)
    if buffer.size_bytes < 0 or buffer.align < 1 or buffer.first > buffer.last:
        facts = f"{buffer.size_bytes} B, alignment {buffer.align}, life {buffer.first}..{buffer.last}"
        yield f"buffer '{buffer.name}' has {facts}"
    if not buffer.memories and not any(value in ends for value in buffer.values):
        yield f"buffer '{buffer.name}' has no candidate memory"
    wanted = "const" if buffer.kind == "constant" else "ram"
    for name in buffer.memories:
        if name not in memories:
            yield f"buffer '{buffer.name}' may be in '{name}', which target '{bound.platform.name}' does not have"
        elif memories[name].kind != wanted:
            yield f"buffer '{buffer.name}' is a {buffer.kind} and cannot be in '{name}'"


def _allocated_faults(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[str]:
    names = {buffer.name for buffer in allocated.tiled.buffers}
    yield from (f"'{name}' is placed, but is no buffer" for name in sorted(set(allocated.placements) - names))
    faults = (*_border_faults(allocated), *plan_faults(allocated, operators))
    yield from faults
    if faults:
        return
    platform = allocated.tiled.scheduled.bound.platform
    pools = [pool.memory for pool in allocated.pools if pool.kind in ("ram", "const")]
    if sorted(pools) != sorted(memory.name for memory in platform.memories):
        yield "the pools are not the target's memories"
        return
    for pool in allocated.pools:
        end = _last_byte(allocated, pool)
        if platform.memory(pool.memory).managed_by == "tilewright" and pool.used_bytes != end:
            yield f"memory '{pool.memory}' is said to use {pool.used_bytes} B, its last buffer ends at {end}"
        if pool.limit_bytes != platform.plan_bytes(pool.memory):
            yield f"memory '{pool.memory}' is said to have a limit of {pool.limit_bytes} B"
        if pool.lower_bound_bytes > pool.used_bytes:
            yield f"memory '{pool.memory}' uses less than its lower bound"
    if allocated.plan_id != plan_id(allocated.tiled, allocated.placements):
        yield f"the plan id {allocated.plan_id:#x} is not that of these constants"


def _border_faults(allocated: Allocated) -> Iterator[str]:
    """What the application sees is row-major; state is read as the run before has stored it."""
    bound, states = allocated.tiled.scheduled.bound, allocated.decisions.state
    graph, layouts, kept = bound.graph, bound.layouts, {*states, *states.values()}
    for name in (*graph.inputs, *graph.outputs):
        shape = graph.tensors[name].shape
        if name not in kept and not same_bytes(shape, layouts[name], row_major(len(shape))):
            yield f"'{name}' is an input or output of the graph, but not row-major"
    for present, following in states.items():
        if not same_bytes(graph.tensors[present].shape, layouts[present], layouts[following]):
            yield f"state '{present}' is stored in another order than '{following}', which it becomes"


def _last_byte(allocated: Allocated, pool: PoolUse) -> int:
    lasting = ("state", "resident")
    ends = (
        allocated.placements[buffer.name].offset_bytes + buffer.size_bytes
        for buffer in allocated.tiled.buffers
        if buffer.size_bytes and buffer.name in allocated.placements
        if allocated.placements[buffer.name].memory == pool.memory
        if buffer.kind == pool.kind or (buffer.kind not in lasting and pool.kind not in lasting)
    )
    return max(ends, default=0)


def _twice(names: Iterable[str], what: str) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield f"two {what}s are named '{name}'"
        seen.add(name)
