"""Knows how `--pin PATTERN=POOL` and the `[pin]` table of a board become decisions about memories.
Does not know whether a pin can be kept; `allocate` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from tilewright.config.name_patterns import KnownNames, Meaning
from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import OUTSIDE

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
        theirs = [name for name in chosen if io.get(name) in OUTSIDE]
        if pattern in theirs:
            raise usage_error(
                "TW5002",
                f"'{pattern}' cannot be pinned to '{pool}': it stays in the caller's memory",
                fix=(typed("--io", f"{pattern}=pool", gives="keeps it in the plan"),),
            )
        pins.update({name: pool for name in chosen if name not in theirs})
    return pins


def demand_io(named: Iterable[str], ends: Sequence[str], kept: Collection[str] = ()) -> None:
    """Every name is a graph input or output that is not `kept` as state. TilewrightError TW1113 (exit 2)."""
    for name in named:
        if name in kept:
            raise usage_error(
                "TW1113",
                f"'{name}' is state, which the application never sees",
                fix=("leave that --io out",),
            )
        if name not in ends:
            raise usage_error(
                "TW1113",
                f"the model has no input or output '{name}'",
                details=(*did_you_mean(name, ends), f"it has: {', '.join(ends)}"),
                fix=("name one of these, as the ONNX file does",),
            )


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
    raise usage_error(
        "TW1116",
        f"no tensor, layer or constant is named '{pattern}'",
        where=where,
        details=did_you_mean(pattern, names.meanings),
        fix=(NAMES,),
    )


def _chosen(meaning: Meaning, memory: Memory, near: str) -> tuple[str, ...]:
    """Scratch is in the scratchpad, where there is one, wherever a layer's values are pinned to."""
    if memory.kind == "const":
        return meaning.constants
    if near not in ("", memory.name) and meaning.values:
        return meaning.values
    return *meaning.values, *meaning.scratch


def _wrong_kind(pattern: str, memory: Memory) -> TilewrightError:
    if memory.kind == "const":
        reason, fix = "names no constant, and only constants can be there", "pin it to a memory that can be written"
    else:
        reason = "names only constants, which are linked into the program and cannot be there"
        fix = typed("--stage", f"{pattern}={memory.name}", gives="instead of --pin copies them there")
    return usage_error("TW1116", f"'{pattern}' cannot be pinned to '{memory.name}': it {reason}", fix=(fix,))


def demand_groups(longest: int | None, platform: Platform) -> None:
    """Steps are joined in a scratchpad. TilewrightError TW1117 (exit 2) where there is none to join them in."""
    if (longest or 1) > 1 and not platform.inner:
        raise usage_error(
            "TW1117",
            f"--groups {longest}: target '{platform.name}' has no scratchpad in which steps are joined",
            details=("every step reads and writes the memory where values live",),
            fix=("leave --groups out",),
        )
