"""Knows how much of each memory several networks need together, and each one's place in it.
Does not know how any one of them is planned, nor the files.

Networks that never run together share bytes, those that may run at the same time do not, and what one of them keeps
from run to run nobody shares. That is an allocation problem with conflicts instead of lifetimes, so an allocator solves
it: the maximum where everything is exclusive, the sum where everything is concurrent, and the right value in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from tilewright.allocate.best_fit import BestFit
from tilewright.check.allocations.allocation import violations
from tilewright.errors import Diagnostic, TilewrightError, memory_error
from tilewright.ir.machines.platform import Memory
from tilewright.ir.plans.allocation import Block, Budget, Pool, Problem
from tilewright.ir.plans.stages import Allocated

LASTING = ("state", "resident")  # kinds of pools that keep their bytes from run to run


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPool:
    """One memory shared by the group. Offsets are those of each model's own pools in it, in bytes from the start."""

    memory: str
    size_bytes: int
    align: int
    lower_bound_bytes: int
    offsets: Mapping[str, int] = field(default_factory=dict)  # prefix -> its pool
    copies: Mapping[str, int] = field(default_factory=dict)  # prefix -> its lasting copies of constants
    state: Mapping[str, int] = field(default_factory=dict)  # prefix -> its state
    section: str = ""  # "" takes the default


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What one model needs of a memory for one purpose."""

    prefix: str
    kind: str  # of pool: "ram", "state" or "resident"
    size_bytes: int

    @property
    def name(self) -> str:
        return f"{self.prefix} {self.kind}"


def share_pools(
    name: str, concurrent: Sequence[Sequence[str]], plans: Mapping[str, Allocated]
) -> tuple[SharedPool, ...]:
    """The memories that all models together need. `concurrent` are sets of models that may run at the same time.

    Raises TilewrightError TW5030 (exit 5) when the group does not fit although every model does.
    """
    platform = next(iter(plans.values())).tiled.scheduled.bound.platform
    pools = []
    for memory in platform.of_kind("ram"):
        parts = list(_parts(plans, memory))
        if not parts:
            continue
        pool = _shared(memory, parts, concurrent)
        limit = platform.hard_bytes(memory.name)
        if limit is not None and pool.size_bytes > limit:
            raise _does_not_fit(name, concurrent, pool, limit, parts)
        pools.append(pool)
    return tuple(pools)


def soft_warnings(pools: Sequence[SharedPool], plans: Mapping[str, Allocated]) -> tuple[Diagnostic, ...]:
    """A warning TW5031 for every soft limit that the group exceeds."""
    platform = next(iter(plans.values())).tiled.scheduled.bound.platform
    warnings = []
    for pool in pools:
        limit = platform.plan_bytes(pool.memory)
        if platform.memory(pool.memory).soft and limit is not None and pool.size_bytes > limit:
            message = (
                f"soft limit exceeded: the group needs {pool.size_bytes:,} B of memory '{pool.memory}', its limit is "
                f"{limit:,} B ({pool.size_bytes - limit:,} B more)"
            )
            warnings.append(Diagnostic(code="TW5031", severity="warning", message=message, where=f"pool {pool.memory}"))
    return tuple(warnings)


def _parts(plans: Mapping[str, Allocated], memory: Memory) -> Iterator[_Part]:
    for prefix, plan in plans.items():
        for use in plan.pools:
            if use.memory == memory.name and use.used_bytes:
                yield _Part(prefix=prefix, kind=use.kind, size_bytes=use.used_bytes)


def _shared(memory: Memory, parts: Sequence[_Part], concurrent: Sequence[Sequence[str]]) -> SharedPool:
    problem = Problem(
        blocks=tuple(
            Block(name=part.name, size_bytes=part.size_bytes, align=memory.align, lifetimes=(), pools=("p",))
            for part in parts
        ),
        pools=(Pool(name="p", capacity_bytes=None, align=memory.align),),
        conflicts=tuple(
            (left.name, right.name) for left, right in combinations(parts, 2) if _exclusive(left, right, concurrent)
        ),
    )
    solution = BestFit().solve(problem, Budget())
    if violations(problem, solution):
        raise RuntimeError(f"the shared pool is wrong: {violations(problem, solution)[0]}")
    start = {part.name: solution.places[part.name].offset_bytes for part in parts}
    return SharedPool(
        memory=memory.name,
        size_bytes=max(start[part.name] + part.size_bytes for part in parts),
        align=memory.align,
        lower_bound_bytes=_lower_bound(parts, concurrent),
        offsets={part.prefix: start[part.name] for part in parts if part.kind not in LASTING},
        copies={part.prefix: start[part.name] for part in parts if part.kind == "resident"},
        state={part.prefix: start[part.name] for part in parts if part.kind == "state"},
        section=memory.section,
    )


def _exclusive(left: _Part, right: _Part, concurrent: Sequence[Sequence[str]]) -> bool:
    """Whether two parts may share no byte: one lasts, or their models may run at the same time."""
    lasting = left.kind in LASTING or right.kind in LASTING
    return lasting or any(left.prefix in names and right.prefix in names for names in concurrent)


def _lower_bound(parts: Sequence[_Part], concurrent: Sequence[Sequence[str]]) -> int:
    """What lasts, beside the largest model, or beside models that may all run at the same time."""
    sizes = {part.prefix: part.size_bytes for part in parts if part.kind not in LASTING}
    together = (sum(sizes.get(prefix, 0) for prefix in set(names)) for names in concurrent)
    lasting = sum(part.size_bytes for part in parts if part.kind in LASTING)
    return lasting + max((*sizes.values(), *together), default=0)


def _does_not_fit(
    name: str, concurrent: Sequence[Sequence[str]], pool: SharedPool, available: int, parts: Sequence[_Part]
) -> TilewrightError:
    words = {"state": " (state)", "resident": " (copies of constants)"}
    details = tuple(f"{part.prefix + words.get(part.kind, ''):20} {part.size_bytes:>12,} B" for part in parts)
    together = "; ".join(", ".join(names) for names in concurrent) or "none"
    return memory_error(
        "TW5030",
        f"group '{name}' does not fit: memory '{pool.memory}' needs {pool.size_bytes:,} B, has {available:,} B "
        f"({pool.size_bytes - available:,} B too many)",
        details=(*details, f"may run at the same time: {together}"),
        fix=("let fewer models run at the same time (concurrent), or give the group a larger memory",),
    )
