"""Knows constants that are copied to other memories, or that state begins with: their names, and how copies are made.
Does not know who asked for them, nor where they are placed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from tilewright.ir.machines.platform import CopyPath, Memory, Platform, reachable
from tilewright.ir.machines.routes import path_between, route
from tilewright.ir.plans.constant_homes import homes, homes_of
from tilewright.ir.plans.decisions import Decisions, Staging
from tilewright.ir.plans.stages import Bound

_START = "${channel} = tw_rt_copy(${dst}, ${src}, ${bytes}, ${rows}, ${dst_stride}, ${src_stride});"
_WAIT = "tw_rt_wait(${channel});"


def refusal(platform: Platform, memory: Memory, when: str) -> str:
    """Why no constant is copied there then; "" where it can be."""
    if memory.kind == "const":
        return "it holds constants already; --pin puts them there"
    if memory.managed_by == "application":
        return "the application manages it"
    if platform.inner and when == "use":
        return (
            f"steps on target '{platform.name}' bring constants by tiles when they use them; when=init copies them once"
        )
    if memory.name == platform.inner:
        return "the scratchpad is for tiles"
    if copying(platform, memory.name) is None:
        return "neither the first engine nor a copy of the target can bring a constant there"
    return ""


def copying(platform: Platform, memory: str) -> Literal["memcpy", "path"] | None:
    """How constants get to a memory: by the first engine, or only by a copy of the target's; None: not at all."""
    engine = platform.engines[0].name
    if platform.memory(memory).lets(engine, "rw") and any(
        constants.lets(engine, "ro") for constants in platform.of_kind("const")
    ):
        return "memcpy"
    return "path" if any(path_to(platform, constants.name, memory) for constants in platform.of_kind("const")) else None


def path_to(platform: Platform, source: str, target: str) -> CopyPath | None:
    """The copy from a memory to another that one core can start alone: through `tw_rt`, where a program has that."""
    path = path_between(platform, source, target)
    if path is not None and has_runtime(platform):
        return replace(path, start=_START, wait=_WAIT)
    return path if path is not None and path.start else None


def has_runtime(platform: Platform) -> bool:
    """Whether programs for it copy through `tw_rt`."""
    return bool(platform.inner) or any(engine.cores > 1 for engine in platform.engines)


def needed_copies(bound: Bound) -> Mapping[str, Staging]:
    """Constants that a step finds only where a copy brings them before the first run: kernels read them in a memory
    that is written (`homes`), or copies lead from theirs to the scratchpad by way of the backing memory alone.
    """
    platform, wanted = bound.platform, homes_of(bound)
    written = {memory.name for memory in platform.of_kind("ram")}
    result = {name: Staging(memory=there[0]) for name, there in wanted.items() if there[0] in written}
    source, backing = constant_source(platform), platform.backing_memory().name
    if platform.inner and _only_by(platform, source, backing) and copying(platform, backing):
        result |= {name: Staging(memory=backing) for name in bound.constants if name not in wanted}
    return result


def misplaced_copy(bound: Bound, decisions: Decisions) -> str:
    """Which constant cannot be copied to where it was decided, since a kernel reads it elsewhere; "" where all can."""
    for binding in bound.bindings.values():
        for operand, constant in binding.constants.items():
            copy, there = decisions.staged.get(constant), homes(binding.kernel, operand, bound.platform)
            if copy and there and copy.memory not in there:
                reader = f"kernel '{binding.kernel.name}' of '{binding.node}' reads {operand}"
                return f"'{constant}' cannot be copied to '{copy.memory}': {reader} in {' or '.join(there)} only"
    return ""


def _only_by(platform: Platform, source: str, backing: str) -> bool:
    """Whether constants come to the scratchpad by way of the backing memory, and the first engine cannot read them."""
    way = route(platform, source, platform.inner)
    return bool(way) and way is not None and way[0].target == backing and not reachable(platform, source)


def constant_source(platform: Platform) -> str:
    """Where constants are if nothing is pinned: the first const memory from which copies lead to the scratchpad."""
    const = platform.of_kind("const")
    leading = [memory.name for memory in const if route(platform, memory.name, platform.inner)]
    return (leading or [memory.name for memory in const])[0]


def copies_of(decisions: Decisions, constants: Mapping[str, object]) -> Iterator[tuple[str, Staging]]:
    """The constants that have copies, in the order of `constants`."""
    staged = decisions.staged
    return ((name, staged[name]) for name in (constants if staged else ()) if name in staged)


def copy_name(constant: str, staging: Staging, step: str) -> str:
    """The buffer in which a step finds the constant."""
    return f"{constant}@{staging.memory}" if staging.when == "init" else f"{constant}@{staging.memory}#{step}"


def read_as(constant: str, decisions: Decisions, step: str) -> str:
    """The buffer that a step reads for a constant: itself, or its copy."""
    staging = decisions.staged.get(constant)
    return copy_name(constant, staging, step) if staging else constant


def initial_name(state: str) -> str:
    """The constant that holds the beginning of a state that does not begin with zeros."""
    return f"{state}.initial"
