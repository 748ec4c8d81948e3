"""Knows what a plan takes of each memory, all its arrays together, and which limits are exceeded or exceed the machine.
Does not know how it was found.
"""

from __future__ import annotations

from tilewright.allocate.regions import arrays_bytes
from tilewright.errors import Diagnostic, typed
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.stages import Allocated


def memory_bytes(allocated: Allocated, memory: str) -> int:
    """Bytes of all arrays of a memory."""
    align = allocated.tiled.scheduled.bound.platform.memory(memory).align
    return arrays_bytes((pool.used_bytes for pool in allocated.pools if pool.memory == memory), align)


def exceeded_bytes(allocated: Allocated, memory: str) -> int:
    """Bytes over the memory's limit; 0 inside it, or without one."""
    limit = allocated.tiled.scheduled.bound.platform.plan_bytes(memory)
    return 0 if limit is None else max(memory_bytes(allocated, memory) - limit, 0)


def beyond_machine_warnings(platform: Platform) -> tuple[Diagnostic, ...]:
    """A warning TW5034 for every limit that is larger than the memory of the machine."""
    return tuple(
        Diagnostic(
            code="TW5034",
            severity="warning",
            message=f"memory '{memory.name}' is given {memory.size_bytes:,} B, the machine has "
            f"{memory.machine_bytes:,} B: a program that takes more does not link",
            where=f"memory {memory.name}",
            fix=(typed("--memory", f"{memory.name}={memory.machine_bytes}"),),
        )
        for memory in platform.memories
        if memory.machine_bytes is not None and (memory.size_bytes or 0) > memory.machine_bytes
    )


def soft_limit_warnings(allocated: Allocated) -> tuple[Diagnostic, ...]:
    """A warning TW5031 for every soft limit that the plan exceeds."""
    platform = allocated.tiled.scheduled.bound.platform
    found = []
    for memory in platform.memories:
        excess = exceeded_bytes(allocated, memory.name) if memory.soft else 0
        if excess:
            limit = platform.plan_bytes(memory.name) or 0
            found.append(
                Diagnostic(
                    code="TW5031",
                    severity="warning",
                    message=f"soft limit exceeded: memory '{memory.name}' needs {limit + excess:,} B, its limit is "
                    f"{limit:,} B ({excess:,} B more)",
                    where=f"pool {memory.name}",
                    fix=(f"leave `soft` out of pool '{memory.name}', which makes the limit hard",),
                )
            )
    return tuple(found)
