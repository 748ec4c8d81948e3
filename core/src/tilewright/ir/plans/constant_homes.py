"""Knows in which memories constants have to live because a kernel's engine reads them there, without any copy.
Does not know where in them they are placed, nor how copies bring other constants to a scratchpad.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Platform
from tilewright.ir.machines.routes import crossed, path_between, route
from tilewright.ir.plans.stages import Bound

Homes = tuple[str, ...]


def homes(kernel: Kernel, operand: str, platform: Platform) -> Homes:
    """The memories of the platform that `Kernel.memories` leaves to a constant, best first; () where it may be
    anywhere: nothing is said of it, or copies bring it to where the kernel reads it.
    """
    allowed = kernel.memories.get(operand, ())
    if not allowed or not set(allowed).isdisjoint(crossed(platform)):
        return ()
    kinds = {memory.name: memory.kind for memory in platform.memories}
    present = [name for name in allowed if name in kinds and (kinds[name] == "const" or _filled(platform, name))]
    return tuple(name for name in present if kinds[name] == kinds[present[0]])


def _filled(platform: Platform, memory: str) -> bool:
    """Whether constants get to a memory that is written: by the first engine, or over one copy of the target."""
    engine, const = platform.engines[0].name, platform.of_kind("const")
    by_core = platform.memory(memory).lets(engine, "rw") and any(source.lets(engine, "ro") for source in const)
    return by_core or any(path_between(platform, source.name, memory) for source in const)


def homeless(kernel: Kernel, operand: str, engine: str, platform: Platform) -> str:
    """Why the kernel can find a constant nowhere on this platform; "" where it can."""
    allowed = kernel.memories.get(operand, ())
    if not allowed or not set(allowed).isdisjoint(crossed(platform)):
        return ""
    left = homes(kernel, operand, platform)
    wanted = " or ".join(f"'{name}'" for name in allowed)
    if not left:
        why = _unfilled(allowed, platform)
        return f"reads {operand} in {wanted}, where no constant of target '{platform.name}' can be: {why}"
    if not any(platform.memory(name).lets(engine, "ro") for name in left):
        return f"reads {operand} in {wanted}, where engine '{engine}' has no access"
    return ""


def _unfilled(allowed: tuple[str, ...], platform: Platform) -> str:
    """Why constants get to none of these memories, the first of them."""
    if allowed[0] not in {memory.name for memory in platform.memories}:
        return "it has no such memory"
    sources = [memory.name for memory in platform.of_kind("const")]
    ways = [way for source in sources if (way := route(platform, source, allowed[0]))]
    if not ways:
        return f"neither the first engine nor a copy brings any there from {' or '.join(sources)}"
    path = " -> ".join([ways[0][0].source, *(copy.target for copy in ways[0])])
    return f"the way is {path}, and one copy is made before the first run"


def homes_of(bound: Bound) -> Mapping[str, Homes]:
    """The constants that have to live somewhere, and where. Those who share a constant want it in the same memories."""
    found: dict[str, Homes] = {}
    for binding in bound.bindings.values():
        for operand in binding.kernel.memories.keys() & binding.constants.keys():
            if there := homes(binding.kernel, operand, bound.platform):
                found[binding.constants[operand]] = there
    return found
