"""Knows why a network cannot be tiled at all, in the user's terms: demands of which none can be left out, and ways out.
Does not know how a plan is found where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.api import TilewrightError, memory_error
from tilewright.api.tiler import Needs, TileChoices, TilingRequest

_WORK = 2.0  # units of deterministic time for one question


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Something that must be in the memory: bytes by tiling, or the same for all."""

    text: str
    sizes: tuple[int, ...]  # by tiling


def explained(choices: TileChoices, error: TilewrightError) -> TilewrightError:
    """TW5102 (exit 5) for the first step without a tiling; `error` where it is no question of bytes."""
    operators = {node.name: node.op for node in choices.request.scheduled.bound.graph.nodes}
    for index, step in enumerate(choices.request.scheduled.steps):
        needs = choices.needs(index)
        if needs is None:
            continue
        limit = choices.request.scheduled.bound.platform.plan_bytes(needs.memory) or 0
        core = minimal(demands_of(choices, index, needs), limit)
        total = sum(min(demand.sizes) for demand in core)
        return memory_error(
            "TW5102",
            f"demands on memory '{needs.memory}' cannot be met together: at least {_least(core):,} B, "
            f"there are {limit:,} B",
            where=f"step '{step.name}' ({operators[step.name]})",
            details=(
                *(f"needed: {demand.text}" for demand in core),
                *_limit_lines(choices, needs.memory),
                *(f"loop '{name}' cannot be cut: {reason}" for name, reason in needs.uncut.items()),
                *(("without any one of these the others fit",) if total and len(core) > 1 else ()),
            ),
            fix=tuple(_remedies(choices, index, needs)),
        )
    return error


def demands_of(choices: TileChoices, index: int, needs: Needs) -> tuple[Demand, ...]:
    """Every buffer of a step's operands, and what is pinned beside them."""
    count = len(needs.smallest)
    result = [
        Demand(
            text=f"'{buffer.name}', pinned to '{needs.memory}' and alive here: "
            f"{choices.taken_bytes(buffer, needs.memory):,} B",
            sizes=(choices.taken_bytes(buffer, needs.memory),) * count,
        )
        for buffer in choices.pinned(needs.memory)
        if buffer.first <= index <= buffer.last
    ]
    for operand in dict.fromkeys(name for sizes in needs.smallest for name in sizes):
        sizes = tuple(tiling.get(operand, 0) for tiling in needs.smallest)
        result.append(Demand(text=f"{_named(operand)}: {_range(sizes)}{_window(needs, operand)}", sizes=sizes))
    return tuple(result)


def minimal(demands: Sequence[Demand], limit: int) -> tuple[Demand, ...]:
    """Demands that cannot be met together, though without any one of them the others can.

    A first set comes from the solver's assumptions; what it does not need is left out one by one, small things first.
    """
    core = list(_sufficient(demands, limit))
    for demand in sorted(core, key=lambda candidate: max(candidate.sizes)):
        rest = [other for other in core if other is not demand]
        if not fits(rest, limit):
            core = rest
    return tuple(demand for demand in demands if demand in core)


def fits(demands: Sequence[Demand], limit: int) -> bool:
    """Whether some tiling meets all of them."""
    count = max((len(demand.sizes) for demand in demands), default=0)
    return any(sum(demand.sizes[at] for demand in demands) <= limit for at in range(count)) or limit >= 0 == count


def _sufficient(demands: Sequence[Demand], limit: int) -> Iterator[Demand]:
    """Demands that the solver needs to see that there is no solution."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    tilings = [model.new_bool_var(f"t{at}") for at in range(len(demands[0].sizes))]
    model.add_exactly_one(tilings)
    used, wanted = [], []
    for number, demand in enumerate(demands):
        size = model.new_int_var(0, max(demand.sizes), f"u{number}")
        literal = model.new_bool_var(f"d{number}")
        taken = sum(tiling * bytes_here for tiling, bytes_here in zip(tilings, demand.sizes, strict=True))
        model.add(size == taken).only_enforce_if(literal)
        used.append(size)
        wanted.append(literal)
    model.add(sum(used) <= limit)
    model.add_assumptions(wanted)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = _WORK
    if solver.solve(model) != cp_model.INFEASIBLE:
        yield from demands
        return
    core = {*solver.sufficient_assumptions_for_infeasibility()}
    yield from (demand for demand, literal in zip(demands, wanted, strict=True) if literal.index in core)


def _least(core: Sequence[Demand]) -> int:
    totals = [sum(row) for row in zip(*(demand.sizes for demand in core), strict=True)]
    return int(min(totals))


def _limit_lines(choices: TileChoices, memory: str) -> Iterator[str]:
    platform = choices.request.scheduled.bound.platform
    size, runtime = platform.memory(memory).size_bytes or 0, platform.runtime_bytes.get(memory, 0)
    yield f"memory '{memory}' has {size:,} B" + (f", of which the runtime takes {runtime:,} B" if runtime else "")


def _remedies(choices: TileChoices, index: int, needs: Needs) -> Iterator[str]:
    """Changes after which the tiler was asked again and found a plan."""
    memory, request = needs.memory, choices.request
    enough = least_size(choices, memory)
    if _fits_now(_resized(request, memory, enough)):
        yield f"--memory {memory}={enough}     is the least that does for every step"
    for buffer in choices.pinned(memory):
        if buffer.first <= index <= buffer.last and _fits_now(_unpinned(request, {buffer.name, *buffer.values})):
            yield f"remove the pin of '{buffer.name}' to memory '{memory}'"


def least_size(choices: TileChoices, memory: str) -> int:
    """Bytes of a memory with which every step that has no tiling now would have one."""
    platform = choices.request.scheduled.bound.platform
    has = platform.plan_bytes(memory) or 0
    result = has
    for index in range(len(choices.request.scheduled.steps)):
        needs = choices.needs(index)
        if needs is not None and needs.memory == memory:
            result = max(result, has - needs.available_bytes + min(sum(tiling.values()) for tiling in needs.smallest))
    return platform.size_for(memory, result)


def _resized(request: TilingRequest, memory: str, size_bytes: int) -> TilingRequest:
    bound = request.scheduled.bound
    bound = replace(bound, platform=bound.platform.with_limits({memory: size_bytes}))
    return replace(request, scheduled=replace(request.scheduled, bound=bound))


def _unpinned(request: TilingRequest, names: set[str]) -> TilingRequest:
    memories = {name: memory for name, memory in request.decisions.memories.items() if name not in names}
    return replace(request, decisions=replace(request.decisions, memories=memories))


def _fits_now(request: TilingRequest) -> bool:
    try:
        TileChoices(request).quick()
    except TilewrightError:
        return False
    return True


def _named(operand: str) -> str:
    return "the kernel's scratch" if operand == "scratch" else f"a buffer for operand '{operand}'"


def _range(sizes: Sequence[int]) -> str:
    return f"{sizes[0]:,} B" if len(set(sizes)) == 1 else f"{min(sizes):,} B or more, by tiling"


def _window(needs: Needs, operand: str) -> str:
    window: Mapping[str, tuple[int, ...]] = needs.windows
    if operand not in window:
        return ""
    return f" (one buffer; its smallest tile is {' x '.join(map(str, window[operand]))})"
