"""Knows the order in which tiles of an engine's jobs are fetched, started, waited for, finished and stored, where the
engine takes one job while it has another: in one loop, tile t + 1 is copied, tile t is computed by the engine, and
tile t - 1 is finished by the cores and stored; of several steps in one region, the others are computed then, too.
Does not know what is inside of any of these.

    for every tile t, and once more
        the DMA core waits for tile t, and for the buffer that its job writes, or the cores, who finish tile t - 1
        barrier
        core 0 starts the job of tile t, and waits for that of tile t - 1
        barrier
        the DMA core starts the fetch of what comes next, into the buffer that the job of tile t - 1 has left
        all cores finish tile t - 1, barrier
        the DMA core starts the fetch of what comes into a buffer that they read, and the store of tile t - 1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.programs.expressions import NEVER, Choice, Expression, FunctionCall, Number, all_of, less, operation
from tilewright.ir.programs.program import Part
from tilewright.ir.programs.statements import Barrier, CopyWait, For, If, Mark, PartCall, Statement
from tilewright.ir.programs.subexpressions import replaced
from tilewright.lower.regions.operand_moves import FIRST, OperandMove, when
from tilewright.lower.steps.engine_jobs import BEHIND
from tilewright.lower.tiles.parts import call_part
from tilewright.lower.tiles.tile_nest import HopLevel


def job_loop(
    level: HopLevel,
    moves: Sequence[OperandMove],
    phases: Sequence[Part],
    dma_core: Callable[[Iterable[Statement]], tuple[Statement, ...]],
) -> tuple[Statement, ...]:
    """All tiles of a level. `phases` are the functions that start, wait, and finish where there is something to
    finish; `dma_core` has statements run by the DMA core only.
    """
    t, before = level.tile, level.tile - 1
    here, past = less(t, level.total), operation(">", t, Number(0))
    start, wait, *finish = phases
    waited = {BEHIND: Choice(here, Number(1), Number(0))}
    needed = {parameter.name for part in finish for parameter in part.parameters}
    early, late = ([move for move in moves if (move.slot.name in needed) is wanted] for wanted in (False, True))
    stores = [
        statement
        for move in moves
        if move.slot.binding.written and not move.slot.resident
        for statement in when(all_of(past, move.last(before)), (move.start(before),))
    ]
    finished = [move for move in late if move.slot.binding.written]
    started = [move for move in moves if move not in finished]
    body: tuple[Statement, ...] = (
        *dma_core((*when(here, tuple(_arrivals(started, t))), *when(past, tuple(_arrivals(finished, before))))),
        Barrier(),
        *when(here, (_called(start, moves, level, t),)),
        *when(past, (_called(wait, moves, level, before, waited),)),
        Barrier(),
        *dma_core(_fetches(early, t)),
        *(statement for part in finish for statement in when(past, (_called(part, moves, level, before),))),
        *((Barrier(),) if finish else ()),
        *dma_core((*_fetches(late, t), *stores)),
    )
    return (For(variable=level.counter, start=FIRST, stop=level.total + 1, step=Number(1), body=body),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """What is done for the tile before while a job runs: by the DMA core before and after the barrier, by all cores,
    and then by the DMA core again. As if it were for the tile under way.
    """

    arriving: tuple[Statement, ...]
    ahead: tuple[Statement, ...]
    computed: tuple[Statement, ...]
    leaving: tuple[Statement, ...]


def group_job_loop(
    level: HopLevel,
    moves: Sequence[OperandMove],
    phases: Sequence[Part],
    behind: Behind,
    dma_core: Callable[[Iterable[Statement]], tuple[Statement, ...]],
) -> tuple[Statement, ...]:
    """The same of several steps, of which the first has jobs: `moves` are what these read. `phases` are the functions
    that start, wait and finish; the last one is called in `behind`.
    """
    t, before = level.tile, level.tile - 1
    here, past = less(t, level.total), operation(">", t, Number(0))
    start, wait, finish = phases
    waited = {BEHIND: Choice(here, Number(1), Number(0))}
    needed = {parameter.name for parameter in finish.parameters}
    early, late = ([move for move in moves if (move.slot.name in needed) is wanted] for wanted in (False, True))

    def earlier(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return when(past, tuple(_of_tile(statement, t, before) for statement in statements))

    body: tuple[Statement, ...] = (
        *dma_core((*when(here, tuple(_arrivals(moves, t))), *earlier(behind.arriving))),
        Barrier(),
        *when(here, (_called(start, moves, level, t),)),
        *when(past, (_called(wait, moves, level, before, waited),)),
        Barrier(),
        *dma_core((*_fetches(early, t), *earlier(behind.ahead))),
        *earlier(behind.computed),
        *dma_core((*_fetches(late, t), *earlier(behind.leaving))),
    )
    return (For(variable=level.counter, start=FIRST, stop=level.total + 1, step=Number(1), body=body),)


def _of_tile(statement: Statement, tile: Expression, other: Expression) -> Statement:
    """The statement about another tile."""
    values = {tile: other}
    if isinstance(statement, If):
        body = tuple(_of_tile(inner, tile, other) for inner in statement.body)
        return If(condition=replaced(statement.condition, values), body=body)
    if isinstance(statement, PartCall):
        arguments = tuple(replaced(argument, values) for argument in statement.arguments)
        return replace(statement, arguments=arguments, tile=replaced(statement.tile, values))
    if isinstance(statement, CopyWait) and isinstance(statement.code, FunctionCall):
        return replace(statement, code=replaced(statement.code, values))
    if isinstance(statement, Mark):
        return replace(statement, pointer=replaced(statement.pointer, values))
    return statement


def _arrivals(moves: Sequence[OperandMove], t: Expression) -> list[Statement]:
    """Inputs of tile t are there, and what was in the buffer of its outputs has left."""
    statements: list[Statement] = []
    for move in moves:
        if move.slot.resident:
            continue
        statements += when(move.first(t), (move.wait(t),))
        if move.slot.binding.written:
            again = move.later(FIRST, move.span)
            used_before = NEVER if move.exists(FIRST, move.span) == NEVER else operation(">=", t, again)
            statements += when(all_of(move.first(t), used_before), move.mark("dead", t))
            statements += when(move.first(t), move.mark("live", t))
    return statements


def _fetches(moves: Sequence[OperandMove], t: Expression) -> list[Statement]:
    """Windows that tile t - 1 was the last to read make room for those that come."""
    statements: list[Statement] = []
    past, before = operation(">", t, Number(0)), t - 1
    moving = [move for move in moves if not move.slot.binding.written and not move.slot.resident]
    for move in moving:
        statements += when(all_of(past, move.last(before)), move.mark("dead", before))
    for move in moving:
        later = *move.mark("live", t, move.span - 1), move.start(t, move.span - 1)
        statements += when(all_of(move.first(t), move.exists(t, move.span - 1)), later)
    return statements


def _called(
    part: Part,
    moves: Sequence[OperandMove],
    level: HopLevel,
    tile: Expression,
    more: Mapping[str, Expression] | None = None,
) -> Statement:
    addresses = {move.slot.name: move.bytes(tile) for move in moves}
    return call_part(part, {level.counter: tile, **addresses, **(more or {})}, tile)
