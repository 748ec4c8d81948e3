"""Knows how `--stage PATTERN=POOL` and the `[stage]` table of a board become decisions about copies of constants.
Does not know where anything is placed, nor the code that copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from tilewright.config.memory_pins import NAMES, demand_meaning, demand_memory
from tilewright.config.name_patterns import KnownNames
from tilewright.errors import usage_error
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.constant_copies import refusal
from tilewright.ir.plans.decisions import Staging

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
