"""Knows copies of constants in other memories: what was asked for, whether it can be, and what copies are named.
Does not know where anything is placed, nor the code that copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from tilewright.decisions import Decisions, Staging
from tilewright.errors import usage_error
from tilewright.naming import Names
from tilewright.pins import demand_meaning, demand_memory
from tilewright.platform import CopyPath, Memory, Platform

FORM = "--stage PATTERN=POOL[,when=init|use]     or --stage auto"
AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRule:
    """Copy the constants that `pattern` names to `memory`."""

    pattern: str
    memory: str
    when: Literal["init", "use"] = "init"


def parse_stage(text: str) -> StageRule:
    """`fc.weight=dtcm,when=use`. TilewrightError TW1101 (exit 2) for anything else."""
    pattern, equals, rest = text.rpartition("=")
    when = "init"
    if equals and rest in ("init", "use") and pattern.endswith(",when"):
        when = rest
        pattern, equals, rest = pattern.removesuffix(",when").rpartition("=")
    if not pattern or not equals or not rest or "," in rest or pattern.endswith(",when"):
        raise usage_error("TW1101", f"'--stage {text}' cannot be read", fix=(f"write it as {FORM}",))
    return StageRule(pattern=pattern, memory=rest, when=cast(Literal["init", "use"], when))


def staged_constants(rules: Sequence[StageRule], names: Names, platform: Platform) -> dict[str, Staging]:
    """Constant -> its copy. Later rules overrule earlier ones.

    Raises TilewrightError (exit 2): TW1103 for a memory that is not there, TW1116 for a pattern that names no constant,
    TW5033 for a copy that the platform cannot make.
    """
    staged: dict[str, Staging] = {}
    for rule in rules:
        where = f"--stage {rule.pattern}={rule.memory}"
        memory = demand_memory(rule.memory, platform, where)
        meaning = demand_meaning(rule.pattern, names, where)
        if not meaning.constants:
            raise usage_error("TW1116", f"'{rule.pattern}' names no constant", where=where, fix=(FORM,))
        reason = refusal(platform, memory, rule.when)
        if reason:
            raise usage_error("TW5033", f"'{rule.pattern}' cannot be copied to '{rule.memory}': {reason}", where=where)
        staged.update(dict.fromkeys(meaning.constants, Staging(memory=rule.memory, when=rule.when)))
    return staged


def refusal(platform: Platform, memory: Memory, when: str) -> str:
    """Why no constant is copied there then; "" where it can be."""
    if memory.kind == "const":
        return "it holds constants already; --pin puts them there"
    if memory.managed_by == "application":
        return "the application manages it"
    if platform.near and when == "use":
        return (
            f"steps on target '{platform.name}' bring constants by tiles when they use them; when=init copies them once"
        )
    if memory.name == platform.near:
        return "the near memory is for tiles"
    if copying(platform, memory.name) is None:
        return "neither the first engine nor a copy of the target can bring a constant there"
    return ""


def copying(platform: Platform, memory: str) -> Literal["memcpy", "path"] | None:
    """How constants get to a memory: by the first engine, or only by a copy of the target's; None: not at all."""
    engine = platform.engines[0].name
    if platform.memory(memory).lets(engine, "rw") and any(one.lets(engine, "ro") for one in platform.of_kind("const")):
        return "memcpy"
    return "path" if any(path_to(platform, one.name, memory) for one in platform.of_kind("const")) else None


def path_to(platform: Platform, source: str, target: str) -> CopyPath | None:
    """The copy from a memory to another that one core can start alone."""
    if platform.near or any(engine.cores > 1 for engine in platform.engines):
        return None
    ends = (source, target)
    return next((path for path in platform.copies if path.start and (path.source, path.target) == ends), None)


def copies_of(decisions: Decisions, constants: Mapping[str, object]) -> Iterator[tuple[str, Staging]]:
    """The constants that have copies, in the order of `constants`."""
    return ((name, decisions.staged[name]) for name in constants if name in decisions.staged)


def copy_name(constant: str, staging: Staging, step: str) -> str:
    """The buffer in which a step finds the constant."""
    return f"{constant}@{staging.memory}" if staging.when == "init" else f"{constant}@{staging.memory}#{step}"


def read_as(constant: str, decisions: Decisions, step: str) -> str:
    """The buffer that a step reads for a constant: itself, or its copy."""
    staging = decisions.staged.get(constant)
    return copy_name(constant, staging, step) if staging else constant
