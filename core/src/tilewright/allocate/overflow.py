"""Knows how to say that a plan does not fit: how much is needed, where, and because of which buffers.
Does not know what to change; the planner tries changes and adds what helped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tilewright.errors import TilewrightError, memory_error
from tilewright.ir.graphs.graph import Node
from tilewright.ir.plans.constant_homes import homes
from tilewright.ir.plans.stages import Buffer, Tiled
from tilewright.ir.short_names import short_names

MIGHT_FIT = "a better placement might fit"  # said where the buffers' lower bound is inside the limit
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """Why a plan does not fit, as a value that the planner can act on."""

    memory: str
    needed_bytes: int  # of the best plan found with this memory unlimited
    available_bytes: int
    lower_bound_bytes: int  # that no plan of these buffers can go below
    step: int  # where most bytes are alive in this memory; -1 for constants
    live: tuple[Buffer, ...]  # there, largest first
    pinned: tuple[str, ...] = ()  # buffers that may not go to another of their memories
    fault: TilewrightError | None = None  # where it is not for want of bytes: what the user is told

    @property
    def excess_bytes(self) -> int:
        """How much too large the best plan found is."""
        return self.needed_bytes - self.available_bytes


def overflow_of(
    tiled: Tiled,
    memory: str,
    inside: tuple[Buffer, ...],
    needed: int,
    available: int,
    bound: int,
    pinned: tuple[str, ...] = (),
) -> Overflow:
    """The overflow of `memory`, which would hold the buffers `inside`."""
    heaviest, step = 0, -1
    if any(buffer.kind != "constant" for buffer in inside):
        for index in range(len(tiled.scheduled.steps)):
            weight = sum(buffer.size_bytes for buffer in inside if buffer.first <= index <= buffer.last)
            if weight > heaviest:
                heaviest, step = weight, index
    live = [buffer for buffer in inside if step < 0 or buffer.first <= step <= buffer.last]
    return Overflow(
        memory=memory,
        needed_bytes=needed,
        available_bytes=available,
        lower_bound_bytes=bound,
        step=step,
        live=tuple(sorted(live, key=lambda buffer: (-buffer.size_bytes, buffer.name))),
        pinned=pinned,
    )


def does_not_fit(tiled: Tiled, overflow: Overflow, fix: tuple[str, ...] = ()) -> TilewrightError:
    """The error TW5001 (exit 5) for an overflow, or its own; `fix` are the changes that were found to help."""
    if overflow.fault is not None:
        return overflow.fault
    shorts = _shorts(tiled)
    shown = overflow.live[:_MOST_SHOWN]
    details = [_line(tiled, buffer, shorts, pinned=buffer.name in overflow.pinned) for buffer in shown]
    rest = overflow.live[_MOST_SHOWN:]
    if rest:
        details.append(f"and {len(rest)} more, {sum(buffer.size_bytes for buffer in rest):,} B together")
    details.extend(_choices(tiled, overflow, shorts))
    details.extend(_read_there(tiled, overflow, shorts))
    if overflow.lower_bound_bytes <= overflow.available_bytes and not _too_large(tiled, overflow, shorts):
        details.append(f"{MIGHT_FIT}: these buffers need at least {overflow.lower_bound_bytes:,} B")
    return memory_error(
        "TW5001",
        f"does not fit: memory '{overflow.memory}' needs {overflow.needed_bytes:,} B, has "
        f"{overflow.available_bytes:,} B ({overflow.excess_bytes:,} B too many)",
        where=_where(tiled, overflow.step, shorts),
        details=tuple(details),
        fix=fix,
    )


def _shorts(tiled: Tiled) -> dict[str, str]:
    """How nodes, tensors and buffers are shown: whole names can fill a screen; the report has them."""
    nodes = (name for node in tiled.scheduled.bound.graph.nodes for name in (node.name, *node.origin[:1]))
    buffers = (name for buffer in tiled.buffers for name in (buffer.name, *buffer.values))
    return short_names((*nodes, *buffers))


def _choices(tiled: Tiled, overflow: Overflow, shorts: Mapping[str, str]) -> list[str]:
    """Where else the buffers may be, and which of them are too large for all of it."""
    platform = tiled.scheduled.bound.platform
    free = [buffer for buffer in overflow.live if buffer.name not in overflow.pinned]
    names = [memory.name for memory in platform.memories if any(memory.name in buffer.memories for buffer in free)]
    if len(names) < 2:
        return []
    limits = ((name, platform.plan_bytes(name)) for name in names)
    shown = ", ".join(name if limit is None else f"{name} ({limit:,} B)" for name, limit in limits)
    return [f"tried in this order: {shown}", *_too_large(tiled, overflow, shorts)]


def _read_there(tiled: Tiled, overflow: Overflow, shorts: Mapping[str, str]) -> Iterator[str]:
    """Which kernels read constants in that memory and nowhere else, for those that are shown."""
    bound, live = tiled.scheduled.bound, overflow.live[:_MOST_SHOWN]
    shown = {buffer.name.removesuffix(f"@{overflow.memory}") for buffer in live}
    for step, binding in bound.bindings.items():
        for operand, name in binding.constants.items():
            there = homes(binding.kernel, operand, bound.platform)
            if name in shown and overflow.memory in there:
                yield f"kernel '{binding.kernel.name}' of '{shorts[step]}' reads {operand} in {' or '.join(there)} only"


def _too_large(tiled: Tiled, overflow: Overflow, shorts: Mapping[str, str]) -> list[str]:
    """Buffers that are larger than every memory they may be in."""
    platform = tiled.scheduled.bound.platform
    lines = []
    for buffer in overflow.live:
        names = [overflow.memory] if buffer.name in overflow.pinned else buffer.memories
        limits = [platform.hard_bytes(name) for name in names]
        if limits and all(limit is not None and limit < buffer.size_bytes for limit in limits):
            lines.append(f"'{shorts[buffer.name]}' alone is larger than {', '.join(names)}")
    return lines


def _where(tiled: Tiled, step: int, shorts: Mapping[str, str]) -> str:
    if step < 0:
        return "constants"
    name = tiled.scheduled.steps[step].name
    node = next((node for node in tiled.scheduled.bound.graph.nodes if node.name == name), None)
    origin = _origin(node, shorts) if node is not None and node.origin else ""
    return f"step {step} '{shorts.get(name, name)}'{f' ({node.op}{origin})' if node is not None else ''}"


def _line(tiled: Tiled, buffer: Buffer, shorts: Mapping[str, str], *, pinned: bool) -> str:
    tensors = tiled.scheduled.bound.graph.tensors
    values = [tensors[name] for name in buffer.values if name in tensors]
    shown = max(values, key=lambda tensor: tensor.size_bytes, default=None)
    shape = "" if shown is None else f"  {'x'.join(map(str, shown.shape)) or 'scalar'} {shown.dtype.value}"
    name = shorts[buffer.name if shown is None else shown.name]
    facts = [] if buffer.kind == "constant" else [f"live {buffer.first}..{buffer.last}"]
    facts += ["pinned"] if pinned else []
    life = f"  ({', '.join(facts)})" if facts else ""
    return f"{buffer.kind:10} {name}{shape}  {buffer.size_bytes:,} B{life}"


def _origin(node: Node, shorts: Mapping[str, str]) -> str:
    """The first ONNX node and how many more: the names of all of them can fill a screen; the report has them."""
    first = "" if len(node.origin) > 1 and node.origin[0] == node.name else f" {shorts[node.origin[0]]}"
    more = len(node.origin) - 1
    if not more:
        return f", onnx{first}"
    return f", onnx{first} and {more} more" if first else f", and {more} more onnx nodes"
