"""Knows constants that are copied to other memories, or that state begins with: their names, and how copies are made.
Does not know who asked for them, nor where they are placed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from tilewright.ir.machines.platform import CopyPath, Memory, Platform
from tilewright.ir.plans.decisions import Decisions, Staging


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
    """The copy from a memory to another that one core can start alone."""
    if platform.inner or any(engine.cores > 1 for engine in platform.engines):
        return None
    ends = (source, target)
    return next((path for path in platform.copies if path.start and (path.source, path.target) == ends), None)


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
