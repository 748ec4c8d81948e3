"""Knows the order in which a level's tiles are fetched, computed and stored, and where cores wait for each other.
Does not know what is inside a fetch, a store or a computation.

    before the loop   what is resident is fetched, and the first tiles
    for every tile    the DMA core waits for the tile and for the buffer that is written
                      barrier; the DMA core starts a later tile into a free buffer
                      compute (or the tiles of the next level), barrier
                      the DMA core starts the next tile of what has one buffer, then the store of what is complete
    after the loop    the DMA core waits for the last stores

An operand of depth d has a new window every `period` tiles. A buffer is written again only after a barrier that every
core passed when it had finished with what was in it, and, if it was stored, after that store was waited for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.plans.region import Region
from tilewright.ir.programs.expressions import (
    NEVER,
    Expression,
    FunctionCall,
    Name,
    Number,
    Reference,
    Struct,
    all_of,
    operation,
)
from tilewright.ir.programs.program import Parameter, Part
from tilewright.ir.programs.statements import Barrier, Declare, For, If, Mark, PartCall, Statement
from tilewright.ir.programs.subexpressions import replaced
from tilewright.lower.operands.addresses import AddressBook
from tilewright.lower.operands.scope import declared, names_of, used
from tilewright.lower.regions.job_pipeline import Behind, group_job_loop, job_loop
from tilewright.lower.regions.operand_moves import FIRST, OperandMove, internal_rows_part, when, window_rows_part
from tilewright.lower.steps.compute import Phase, compute_part
from tilewright.lower.steps.engine_jobs import demand_windows
from tilewright.lower.tiles.parts import call_part, move_part, named
from tilewright.lower.tiles.tile_nest import HopLevel, tile_counts
from tilewright.lower.tiles.tile_operands import OperandLocation, TileBuffers, TiledStep
from tilewright.tile.cost.job_overlap import jobs_overlap

DMA_CORE = FunctionCall("tw_rt_is_dma_core")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The statements of a region's function, the parts they call, the C that each step's kernel needs at file scope."""

    body: tuple[Statement, ...] = ()
    parts: tuple[Part, ...] = ()
    sources: tuple[tuple[CodeFragment, ...], ...] = ()  # of each step


@dataclass(frozen=True, slots=True, kw_only=True)
class DmaCoreWork:
    """What the DMA core does besides: before all tiles, before and after each, after all."""

    before: tuple[Statement, ...] = ()
    arriving: tuple[Statement, ...] = ()
    leaving: tuple[Statement, ...] = ()
    after: tuple[Statement, ...] = ()


def pipeline(tilings: Sequence[TiledStep], region: Region, at: int = 0) -> Pipeline:
    """All levels from number `at` on, all steps in each tile."""
    sink = tilings[-1]
    if at == len(sink.nest.levels):
        return _computed(tilings, region)
    level, deepest = sink.nest.levels[at], at + 1 == len(sink.nest.levels)
    moves = [move_of(tiling, at, slot) for tiling in tilings for slot in tiling.slots[at]]
    if deepest and level.moving and jobs_overlap(sink.box.boxes):
        return _group_jobs(tilings, region, moves, at) if len(tilings) > 1 else _jobs(sink, level, moves, at)
    inner = pipeline(tilings, region, at + 1)
    calls, own = (inner.body, ()) if deepest or not level.moving else _as_part(tilings, at, inner)
    calls = pointed(calls, moves, level)
    box: tuple[Statement, ...] = ()
    if not deepest and level.moving and level.variable in names_of(calls):
        box = (sink.box.declare(level),)
    loop = tile_loop(level, moves, calls, box=box, also=_lasting(tilings, region) if deepest else None)
    body = (*declared(declarations(sink.book, level, moves, at), loop), *loop)
    boxes = (sink.box.part(level),) if level.moving else ()
    moving = [part for move in moves for part in (move.part, move.keep) if part]
    return Pipeline(body=body, parts=(*boxes, *moving, *inner.parts, *own), sources=inner.sources)


def _jobs(tiling: TiledStep, level: HopLevel, moves: Sequence[OperandMove], at: int) -> Pipeline:
    """The tiles of the innermost level, where one job of an engine runs while the next is prepared."""
    demand_windows(tiling)
    phases: tuple[Phase, ...] = ("start", "wait", *(("finish",) if tiling.kernel.finish else ()))
    made = [compute_part(tiling, phase) for phase in phases]
    parts = [part for part, _ in made]
    loop = (
        *_by_dma_core(_before(moves)),
        *job_loop(level, moves, parts, _by_dma_core),
        *_by_dma_core(_after(moves)),
    )
    moving = [part for move in moves for part in (move.part, move.keep) if part]
    return Pipeline(
        body=(*declared(declarations(tiling.book, level, moves, at), loop), *loop),
        parts=(tiling.box.part(level), *moving, *parts),
        sources=(tuple(section for _, sections in made for section in sections),),
    )


def _group_jobs(tilings: Sequence[TiledStep], region: Region, moves: Sequence[OperandMove], at: int) -> Pipeline:
    """The same of several steps: while the first one's job runs, the cores finish the job before, and compute the other
    steps for that tile.
    """
    first, sink = tilings[0], tilings[-1]
    level = sink.nest.levels[at]
    demand_windows(first)
    (start, sources), (wait, _) = compute_part(first, "start"), compute_part(first, "wait")
    inner, work = _computed(tilings, region, started=True), _lasting(tilings, region)
    own = [move for move in moves if move.slot in first.slots[at] and not move.slot.binding.written]
    others = [move for move in moves if move not in own]
    finish = next(part for part in inner.parts if part.function == named(first, "finish", None))
    behind = Behind(
        arriving=(*_arriving(others, level), *work.arriving),
        ahead=tuple(_ahead(others, level)),
        computed=(*pointed(inner.body, moves, level), Barrier(), *_keeping(others, level)),
        leaving=(*_leaving(others, level), *work.leaving),
    )
    loop = (
        *_by_dma_core((*_before(moves), *work.before)),
        *group_job_loop(level, own, (start, wait, finish), behind, _by_dma_core),
        *_by_dma_core((*_after(moves), *work.after)),
    )
    moving = [part for move in moves for part in (move.part, move.keep) if part]
    return Pipeline(
        body=(*declared(declarations(sink.book, level, moves, at), loop), *loop),
        parts=(sink.box.part(level), *moving, start, wait, *inner.parts),
        sources=((*sources, *inner.sources[0]), *inner.sources[1:]),
    )


def move_of(tiling: TiledStep, at: int, slot: TileBuffers) -> OperandMove:
    """How an operand of a step is moved at a level."""
    keep = window_rows_part(tiling, at, slot) if slot.roll else None
    return OperandMove(slot=slot, part=move_part(tiling, at, slot), level=tiling.nest.levels[at], keep=keep)


def _computed(tilings: Sequence[TiledStep], region: Region, *, started: bool = False) -> Pipeline:
    """Every step in one tile: rows that stay are moved, then each computes its part of it, a barrier after each. The
    first one's job may have been `started`, and waited for: it is only finished then.
    """
    made = [compute_part(tiling) for tiling in tilings]
    finishes = [compute_part(tiling, "finish") if tiling.kernel.finish else None for tiling in tilings]
    keeps = [part for tiling in tilings if tiling.nest.levels for part in internal_rows_part(tiling)]
    steps: list[Statement] = [call_part(part, {}) for part in keeps]
    if keeps:
        steps.append(Barrier())
    for tiling, (part, _), finish in zip(tilings, made, finishes, strict=True):
        final = tiling is tilings[-1]
        call: tuple[Statement, ...] = (call_part(part, {}),)
        if finish:
            ended = call_part(finish[0], {})
            call = (ended,) if started and tiling is tilings[0] else (*call, Barrier(), ended)
        steps.extend(call if final else when(tiling.first(), (*call, Barrier())))
    every = [[computed, finish] if finish else [computed] for computed, finish in zip(made, finishes, strict=True)]
    every[0] = every[0][1:] if started else every[0]
    return Pipeline(
        body=tuple(steps),
        parts=(*keeps, *(part for functions in every for part, _ in functions)),
        sources=tuple(tuple(section for _, sections in functions for section in sections) for functions in every),
    )


def _lasting(tilings: Sequence[TiledStep], region: Region) -> DmaCoreWork:
    """Where sums, and what passes from step to step, begin and end to hold data: with every tile, or for all tiles."""
    lasting: list[tuple[Statement, Statement]] = []
    fresh: list[Statement] = []
    gone: list[Statement] = []
    sums = tilings[-1].sums
    if sums is not None and not sums.in_output:
        lasting.append((internal_value_mark("live", sums.carried), internal_value_mark("dead", sums.carried)))
    for tiling in tilings[:-1]:
        (binding,) = [binding for binding in tiling.bindings if binding.written]
        internal_value = region.internal_values[binding.what]
        marks = (
            internal_value_mark("live", tiling.inner[binding.operand]),
            internal_value_mark("dead", tiling.inner[binding.operand]),
        )
        if internal_value.form == "recomputed" and tiling.nest.levels[-1].moving:
            fresh.extend(when(tiling.first(), marks[:1]))
            gone.extend(when(tiling.last(), marks[1:]))
        else:
            lasting.append(marks)
    return DmaCoreWork(
        before=tuple(live for live, _ in lasting),
        arriving=tuple(fresh),
        leaving=tuple(gone),
        after=tuple(dead for _, dead in lasting),
    )


def internal_value_mark(event: str, location: OperandLocation) -> Statement:
    """Where bytes begin or end to hold data."""
    (region,) = location.ranges
    return Mark(
        event="live" if event == "live" else "dead",
        buffer=region.buffer,
        pointer=location.address,
        size_bytes=region.size_bytes,
    )


def untiled(tiling: TiledStep, region: Region) -> Pipeline:
    """The same for a step that is computed in one piece, operands where they are."""
    made = pipeline((tiling,), region)
    return replace(made, body=(Barrier(), *made.body, Barrier()))


def _as_part(tilings: Sequence[TiledStep], at: int, inner: Pipeline) -> tuple[tuple[Statement, ...], tuple[Part, ...]]:
    """The inner levels as a function of its own, and the call of it."""
    sink = tilings[-1]
    level, struct = sink.nest.levels[at], sink.nest.struct
    below = sink.nest.levels[at + 1]
    outer = [Parameter(type=struct, name=outer_level.variable) for outer_level in sink.nest.levels[: at + 1]]
    operands = [tiling.internal_value(binding, at + 1).parameter for tiling in tilings for binding in tiling.bindings]
    part = Part(
        role="pipeline",
        function=f"{sink.function}_{below.hop.inner}",
        comment=(f"A tile in {level.hop.inner}, cut again.",),
        parameters=used([*outer, *operands, *sink.book.bases], inner.body),
        body=inner.body,
    )
    return (call_part(part, {}),), (part,)


def declarations(book: AddressBook, level: HopLevel, moves: Sequence[OperandMove], at: int) -> Iterable[Statement]:
    """Numbers of tiles where they vary, and the slots of the tile buffers with the queue of their transfers."""
    for name, value in tile_counts(level).items():
        yield Declare(type="const int32_t", name=name, value=value)
    queue = Name(f"copies_{at}" if at else "copies")
    if moves:
        yield Declare(type="tw_queue", name=queue.text, value=Struct("", (Number(0),), ("started",)))
    for move in moves:
        starts = [book.of_buffer(name).address for name in move.slot.buffers]
        slots = [Struct("", (start, Reference(queue)), ("bytes", "queue")) for start in starts]
        yield Declare(type="tw_slot", name=move.slot.name, value=Struct("", tuple(slots)), count=len(slots))


def _before(moves: Sequence[OperandMove]) -> Iterable[Statement]:
    """What is under way before the first tile."""
    for move in moves:
        if move.slot.binding.written:
            if move.slot.resident:
                yield from move.mark("live", FIRST)
        elif move.stays:
            yield from (*move.mark("live", FIRST), move.start(FIRST))
        for ahead in () if move.stays or move.slot.binding.written else range(max(move.span - 1, 1)):
            yield from when(move.exists(FIRST, ahead), (*move.mark("live", FIRST, ahead), move.start(FIRST, ahead)))
    yield from (move.wait(FIRST) for move in moves if move.slot.resident and not move.slot.binding.written)


def tile_loop(
    level: HopLevel,
    moves: Sequence[OperandMove],
    called: tuple[Statement, ...],
    *,
    box: tuple[Statement, ...] = (),
    also: DmaCoreWork | None = None,
) -> tuple[Statement, ...]:
    """All tiles of a level: `called` for each, once what it needs has arrived. `box` is declared for each tile."""
    more = also or DmaCoreWork()
    body = (
        *box,
        *_by_dma_core((*_arriving(moves, level), *more.arriving)),
        Barrier(),
        *_by_dma_core(_ahead(moves, level)),
        *called,
        Barrier(),
        *_keeping(moves, level),
        *_by_dma_core((*_leaving(moves, level), *more.leaving)),
    )
    if level.moving:
        body = (For(variable=level.counter, start=FIRST, stop=level.total, step=Number(1), body=body),)
    return (*_by_dma_core((*_before(moves), *more.before)), *body, *_by_dma_core((*_after(moves), *more.after)))


def before_tile(moves: Sequence[OperandMove], level: HopLevel) -> tuple[Statement, ...]:
    """Of a level of one tile, what stands before that is computed."""
    return (*_by_dma_core(_before(moves)), *_by_dma_core(_arriving(moves, level)), Barrier())


def after_tile(moves: Sequence[OperandMove], level: HopLevel) -> tuple[Statement, ...]:
    """Of a level of one tile, what stands after that was computed."""
    return (Barrier(), *_by_dma_core((*_leaving(moves, level), *_after(moves))))


def _keeping(moves: Sequence[OperandMove], level: HopLevel) -> tuple[Statement, ...]:
    """The cores move the rows that stay of windows of which more is brought."""
    t = level.tile
    calls: list[Statement] = []
    for move in moves:
        if move.keep is not None:
            later = move.later(t, 1)
            call = call_part(move.keep, {level.counter: later, move.slot.name: move.bytes(FIRST)}, later)
            calls.extend(when(all_of(move.last(t), move.exists(t, 1)), (call,)))
    return (*calls, Barrier()) if calls else ()


def _arriving(moves: Sequence[OperandMove], level: HopLevel) -> Iterable[Statement]:
    """What the DMA core does before a tile is computed."""
    t = level.tile
    for move in _brought(moves):
        yield from when(move.first(t), (move.wait(t),))
    for move in moves:
        if move.slot.binding.written and not move.slot.resident:
            yield from when(move.first(t), (move.wait(t),))
            again = move.later(FIRST, move.span)
            used_before = NEVER if move.exists(FIRST, move.span) == NEVER else operation(">=", t, again)
            yield from when(all_of(move.first(t), used_before), move.mark("dead", t))
            yield from when(move.first(t), move.mark("live", t))


def _ahead(moves: Sequence[OperandMove], level: HopLevel) -> Iterable[Statement]:
    """What the DMA core does while a tile is computed: it starts a later one into a free buffer."""
    t = level.tile
    for move in _brought(moves):
        if move.span > 1:
            later = *move.mark("live", t, move.span - 1), move.start(t, move.span - 1)
            yield from when(all_of(move.first(t), move.exists(t, move.span - 1)), later)


def _brought(moves: Sequence[OperandMove]) -> list[OperandMove]:
    return [move for move in moves if not move.slot.binding.written and not move.slot.resident]


def _leaving(moves: Sequence[OperandMove], level: HopLevel) -> Iterable[Statement]:
    """What the DMA core does once a tile is computed: fetches first, since stores may go on during the next tile."""
    t = level.tile
    moving = [move for move in moves if not move.slot.resident]
    for move in moving:
        if not move.slot.binding.written:
            marks = (() if move.stays else move.mark("dead", t)), (() if move.stays else move.mark("live", t, 1))
            yield from when(move.last(t), marks[0])
            if move.span == 1:
                yield from when(all_of(move.last(t), move.exists(t, 1)), (*marks[1], move.start(t, 1)))
    for move in moving:
        if move.slot.binding.written:
            yield from when(move.last(t), (move.start(t),))


def _after(moves: Sequence[OperandMove]) -> Iterable[Statement]:
    """What is left after the last tile."""
    for move in moves:
        if move.stays:
            yield from (move.start(FIRST),) if move.slot.binding.written else move.mark("dead", FIRST)
    for move in moves:
        if move.slot.binding.written:
            for number in range(1 if move.slot.resident else move.span):
                yield move.wait(FIRST, number)
                yield from when(move.exists(FIRST, number), move.mark("dead", FIRST, number))


def pointed(called: tuple[Statement, ...], moves: Sequence[OperandMove], level: HopLevel) -> tuple[Statement, ...]:
    """The calls with the addresses of this level's slots."""
    addresses: dict[Expression, Expression] = {Name(move.slot.name): move.bytes(level.tile) for move in moves}

    def aimed(statement: Statement) -> Statement:
        if isinstance(statement, If):
            return replace(statement, body=tuple(map(aimed, statement.body)))
        if isinstance(statement, PartCall):
            return replace(
                statement,
                arguments=tuple(replaced(argument, addresses) for argument in statement.arguments),
                tile=level.tile,
            )
        return statement

    return tuple(map(aimed, called))


def _by_dma_core(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """`statements` on the DMA core only; neighbours under one condition share it."""
    merged: list[Statement] = []
    for statement in statements:
        before = merged[-1] if merged else None
        if isinstance(statement, If) and isinstance(before, If) and statement.condition == before.condition:
            merged[-1] = If(condition=before.condition, body=(*before.body, *statement.body))
        else:
            merged.append(statement)
    return (If(condition=DMA_CORE, body=tuple(merged)),) if merged else ()
