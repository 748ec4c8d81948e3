"""Knows in which memories constants have to live because a kernel's engine reads them there, without any copy.
Does not know where in them they are placed, nor how copies bring other constants to a scratchpad.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Platform
from tilewright.ir.machines.routes import crossed
from tilewright.ir.plans.stages import Bound

Homes = tuple[str, ...]


def homes(kernel: Kernel, operand: str, platform: Platform) -> Homes:
    """The memories of the platform that `Kernel.memories` leaves to a constant, best first; () where it may be
    anywhere: nothing is said of it, or copies bring it to where the kernel reads it.
    """
    allowed = kernel.memories.get(operand, ())
    if not allowed or not set(allowed).isdisjoint(crossed(platform)):
        return ()
    present = [memory.name for memory in platform.of_kind("const")]
    return tuple(name for name in allowed if name in present)


def homeless(kernel: Kernel, operand: str, engine: str, platform: Platform) -> str:
    """Why the kernel can find a constant nowhere on this platform; "" where it can."""
    allowed = kernel.memories.get(operand, ())
    if not allowed or not set(allowed).isdisjoint(crossed(platform)):
        return ""
    left = homes(kernel, operand, platform)
    wanted = " or ".join(f"'{name}'" for name in allowed)
    if not left:
        return f"reads {operand} in {wanted}, which is no memory of target '{platform.name}' that holds constants"
    if not any(platform.memory(name).lets(engine, "ro") for name in left):
        return f"reads {operand} in {wanted}, where engine '{engine}' has no access"
    return ""


def homes_of(bound: Bound) -> Mapping[str, Homes]:
    """The constants that have to live somewhere, and where. Those who share a constant want it in the same memories."""
    found: dict[str, Homes] = {}
    for binding in bound.bindings.values():
        for operand in binding.kernel.memories.keys() & binding.constants.keys():
            if there := homes(binding.kernel, operand, bound.platform):
                found[binding.constants[operand]] = there
    return found
