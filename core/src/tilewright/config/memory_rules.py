"""Knows how `--pin` and `--stage PATTERN=POOL`, and the tables `[pin]` and `[stage]` of a board, become decisions about
memories. Does not know whether a pin can be kept (`allocate` does), nor the code that copies constants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from tilewright.config.name_patterns import KnownNames, Meaning
from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.constant_copies import refusal
from tilewright.ir.plans.decisions import OUTSIDE, Staging

NAMES = (
    "names are those of the ONNX file, with *, ? and [...] as in a shell; `compile --dump-after rewritten` lists them"
)


def pinned_memories(
    rules: Sequence[tuple[str, str]], names: KnownNames, platform: Platform, io: Mapping[str, str]
) -> dict[str, str]:
    """Value, scratch buffer or constant -> memory. Later rules overrule earlier ones.

    A pool of constants takes the constants of what a pattern names, any other pool everything else (scratch only where
    it may be).
    Raises TilewrightError (exit 2): TW1103 for a memory that is not there, TW1116 for a pattern that names nothing,
    TW5002 for a tensor that stays in the caller's memory.
    """
    pins: dict[str, str] = {}
    for pattern, pool in rules:
        memory = demand_memory(pool, platform, f"--pin {pattern}={pool}")
        meaning = demand_meaning(pattern, names, f"--pin {pattern}={pool}")
        chosen = _chosen(meaning, memory, platform.inner)
        if not chosen:
            raise _wrong_kind(pattern, memory)
        outside = [name for name in chosen if io.get(name) in OUTSIDE]
        if pattern in outside:
            raise usage_error(
                "TW5002",
                f"'{pattern}' cannot be pinned to '{pool}': it stays in the caller's memory",
                fix=(typed("--io", f"{pattern}=pool", gives="keeps it in the plan"),),
            )
        pins.update({name: pool for name in chosen if name not in outside})
    return pins


def demand_memory(name: str, platform: Platform, where: str) -> Memory:
    """The platform's memory of that name. TilewrightError TW1103 (exit 2) when there is none."""
    names = [memory.name for memory in platform.memories]
    if name in names:
        return platform.memory(name)
    raise usage_error(
        "TW1103",
        f"target '{platform.name}' has no memory '{name}'",
        where=where,
        details=(*did_you_mean(name, names), f"it has: {', '.join(names)}"),
        fix=(typed("tilewright", "targets", platform.name),),
    )


def demand_meaning(pattern: str, names: KnownNames, where: str) -> Meaning:
    """What the pattern names. TilewrightError TW1116 (exit 2) when that is nothing."""
    meaning = names.matching(pattern)
    if meaning is not None:
        return meaning
    part = f"*{pattern.strip('*')}*"
    raise usage_error(
        "TW1116",
        f"no tensor, layer or constant is named '{pattern}'",
        where=where,
        details=(f"it is a part of names: '{part}'",)
        if names.matching(part)
        else did_you_mean(pattern, names.meanings),
        fix=(NAMES,),
    )


def _chosen(meaning: Meaning, memory: Memory, inner: str) -> tuple[str, ...]:
    """Scratch is in the scratchpad, where there is one, wherever a layer's values are pinned to."""
    if memory.kind == "const":
        return meaning.constants
    if inner not in ("", memory.name) and meaning.values:
        return meaning.values
    return *meaning.values, *meaning.scratch


def _wrong_kind(pattern: str, memory: Memory) -> TilewrightError:
    if memory.kind == "const":
        reason, fix = "names no constant, and only constants can be there", "pin it to a memory that can be written"
    else:
        reason = "names only constants, which are linked into the program and cannot be there"
        fix = typed("--stage", f"{pattern}={memory.name}", gives="instead of --pin copies them there")
    return usage_error("TW1116", f"'{pattern}' cannot be pinned to '{memory.name}': it {reason}", fix=(fix,))


FORM = "--stage PATTERN=POOL[,when=init|use]     or --stage auto"
AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRule:
    """Copy the constants that `pattern` names to `memory`."""

    pattern: str
    memory: str
    when: Literal["init", "use"] = "init"


def parse_copy(text: str) -> CopyRule:
    """`fc.weight=dtcm,when=use`. TilewrightError TW1101 (exit 2) for anything else."""
    pattern, equals, rest = text.rpartition("=")
    when = "init"
    if equals and rest in ("init", "use") and pattern.endswith(",when"):
        when = rest
        pattern, equals, rest = pattern.removesuffix(",when").rpartition("=")
    if not pattern or not equals or not rest or "," in rest or pattern.endswith(",when"):
        raise usage_error("TW1101", f"'--stage {text}' cannot be read", fix=(f"write it as {FORM}",))
    return CopyRule(pattern=pattern, memory=rest, when=cast(Literal["init", "use"], when))


def copied_constants(rules: Sequence[CopyRule], names: KnownNames, platform: Platform) -> dict[str, Staging]:
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
            raise usage_error("TW1116", f"'{rule.pattern}' names no constant", where=where, fix=(NAMES,))
        copy = Staging(memory=rule.memory, when=rule.when)
        _demand_copyable(rule.pattern, copy, memory, platform, where, "leave --stage out")
        staged.update(dict.fromkeys(meaning.constants, copy))
    return staged


def demand_copyable(staged: Mapping[str, Staging], platform: Platform) -> None:
    """Every copy that a file decides on can be made. TilewrightError (exit 2) TW1103 and TW5033 as for patterns."""
    where = "`staged` in the pinned decisions"
    for name, copy in staged.items():
        memory = demand_memory(copy.memory, platform, where)
        _demand_copyable(name, copy, memory, platform, where, "remove it from the file")


def _demand_copyable(name: str, copy: Staging, memory: Memory, platform: Platform, where: str, otherwise: str) -> None:
    reason = refusal(platform, memory, copy.when)
    if reason:
        raise usage_error(
            "TW5033",
            f"'{name}' cannot be copied to '{copy.memory}': {reason}",
            where=where,
            fix=(f"copy it to another memory, or {otherwise}",),
        )
