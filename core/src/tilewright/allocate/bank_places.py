"""Knows how places are found for blocks that kernels want in banks, with any allocator, and what is said where there
are none. Does not know which banks there are to choose from (`banks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tilewright.allocate.banks import banks_of, choices, limited, with_banks, without_walls
from tilewright.allocate.overflow import Overflow, overflow_of
from tilewright.allocate.packing.lower_bound import lower_bounds
from tilewright.allocate.solving import solved
from tilewright.check.allocations.allocation import peaks
from tilewright.errors import TilewrightError, amended, memory_error, typed
from tilewright.ir.plans.allocation import Allocator, Budget, Problem, Solution
from tilewright.ir.plans.operand_banks import BankDemand
from tilewright.ir.plans.stages import Tiled


def in_banks(
    tiled: Tiled,
    demands: Sequence[BankDemand],
    problem: Problem,
    loose: Solution,
    allocator: Allocator,
    budget: Budget,
) -> Solution | Overflow:
    """`loose`, a plan of the problem, where that keeps the banks; else the first one that does: inside of what `loose`
    takes, or of what the pools have. An overflow with the error TW5068 where no choice of banks leads to one.
    """
    memories = tiled.scheduled.bound.platform.memories
    sizes = {memory.name: memory.bank_bytes for memory in memories if memory.bank_bytes}
    banks = banks_of(demands, problem, sizes)
    if banks.kept(loose, problem):
        return loose
    open_ended, used = limited(problem, banks), peaks(problem, loose)
    for capacities in ({name: used[name] for name in sizes if name in used}, {}):
        asked = _with_capacities(open_ended, capacities)
        for choice in choices(banks, asked):
            answer = solved(with_banks(asked, banks, choice), allocator, budget)
            if answer.status in ("optimal", "feasible"):
                return without_walls(answer, problem, lower_bounds(problem))
    return _overflow(tiled, demands, open_ended, sizes)


def _with_capacities(problem: Problem, capacities: Mapping[str, int]) -> Problem:
    pools = (replace(pool, capacity_bytes=capacities.get(pool.name, pool.capacity_bytes)) for pool in problem.pools)
    return replace(problem, pools=tuple(pools))


def _overflow(tiled: Tiled, demands: Sequence[BankDemand], problem: Problem, sizes: Mapping[str, int]) -> Overflow:
    """What is told of the first demand that cannot be kept alone; of the first, where each of them could."""
    alone = (demand for demand in demands if not any(choices(banks_of([demand], problem, sizes), problem)))
    demand = next(alone, demands[0])
    names = [name for own in demand.buffers.values() for name in own]
    inside = tuple(buffer for buffer in tiled.buffers if buffer.name in names)
    memory = next(name for buffer in inside for name in buffer.memories if name in sizes)
    step = next(at for at, step in enumerate(tiled.scheduled.steps) if step.name == demand.step)
    alive = tuple(
        buffer for buffer in tiled.buffers if memory in buffer.memories and buffer.first <= step <= buffer.last
    )
    capacity = next(pool.capacity_bytes or 0 for pool in problem.pools if pool.name == memory)
    told = (f"'{buffer.name}' takes {buffer.size_bytes:,} B" for buffer in inside)
    details = (f"'{memory}' has {capacity:,} B, in banks of {sizes[memory]:,} B", *told)
    short = overflow_of(tiled, memory, alive, capacity + 1, capacity, 0)
    return replace(short, fault=not_in_banks(demand, str(demand), details))


def not_in_banks(demand: BankDemand, reason: str, details: tuple[str, ...] = ()) -> TilewrightError:
    """The error TW5068 (exit 5)."""
    error = memory_error(
        "TW5068",
        f"no place keeps operands in their banks: {reason}",
        details=details,
        fix=(
            typed("--io", "pool", gives="keeps graph inputs and outputs in the plan"),
            "pin another kernel for the step, or let this one want fewer operands apart (`Kernel.banks`)",
        ),
    )
    return amended(error, subject=demand.step)
