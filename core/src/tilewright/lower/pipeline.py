"""Knows the order in which a level's tiles are fetched, computed and stored, and where cores wait for each other.
Does not know what is inside a fetch, a store or a computation.

    before the loop   what is resident is fetched, and the first tiles
    for every tile    the mover waits for the tile, starts a later one into a free buffer, waits for the buffer to write
                      barrier, compute (or the tiles of the next level), barrier
                      the mover starts the next tile of what has one buffer, then the store of what is complete
    after the loop    the mover waits for the last stores

An operand of depth d has a new window every `period` tiles. A buffer is written again only after a barrier that every
core passed when it had finished with what was in it, and, if it was stored, after that store was waited for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.program import Parameter, Part
from tilewright.ir.regions import Region
from tilewright.ir.statements import Barrier, CopyWait, Declare, For, If, Mark, PartCall, Statement
from tilewright.lower.addresses import AddressBook
from tilewright.lower.nest import HopLevel
from tilewright.lower.parts import call_part, compute_part, declared, move_part, used
from tilewright.lower.row_moves import held_rows_part, window_rows_part
from tilewright.lower.sums import factor
from tilewright.lower.tile_buffers import OperandLocation, TileBuffers, TiledStep

MOVER = "tw_rt_is_mover()"
NEVER = "never"  # a condition known not to hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The statements of a region's function, the parts they call, the C that each step's kernel needs at file scope."""

    body: tuple[Statement, ...] = ()
    parts: tuple[Part, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraMoverWork:
    """What the mover does besides: before all tiles, before and after each, after all."""

    before: tuple[Statement, ...] = ()
    arriving: tuple[Statement, ...] = ()
    leaving: tuple[Statement, ...] = ()
    after: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mover:
    """One operand at one level, and how to move it."""

    slot: TileBuffers
    part: Part
    level: HopLevel
    keep: Part | None = None  # of a rolling window: moves the rows that stay, before the part that is new is brought

    @property
    def period(self) -> str:
        """Tiles from one window to the next."""
        return self.level.period(self.slot.copy.level)

    @property
    def span(self) -> int:
        """Buffers of the operand."""
        return len(self.slot.buffers)

    def element(self, tile: str, ahead: int = 0) -> str:
        """The slot of the window that `tile` belongs to, or of the one `ahead` windows later."""
        if self.span == 1 or self.slot.resident:
            return f"{self.slot.name}[0]"
        window = tile if self.period == "1" else f"{tile} / {factor(self.period)}"
        if tile == "0":
            return f"{self.slot.name}[{ahead % self.span}]"
        if ahead % self.span:
            window = f"({window} + {ahead % self.span})"
        return f"{self.slot.name}[{window} % {self.span}]"

    def start(self, tile: str, ahead: int = 0) -> Statement:
        """Starts its transfers: of `tile`, or `ahead` windows later."""
        later = _plus(tile, ahead, self.period)
        return call_part(self.part, {"slot": f"&{self.element(tile, ahead)}", self.level.counter: later}, later)

    def wait(self, tile: str, ahead: int = 0) -> Statement:
        """Waits for the transfers of its slot."""
        text = f"tw_arrived(&{self.element(tile, ahead)});"
        return CopyWait(transfer=self.slot.name, text=text, outgoing=self.slot.binding.written)

    @property
    def stays(self) -> bool:
        """The slot's bytes hold data during all tiles: they are marked before the first and after the last."""
        return self.slot.resident or self.keep is not None

    def mark(self, event: str, tile: str, ahead: int = 0) -> tuple[Statement, ...]:
        """The slot's bytes begin or end to hold data; who holds a value in them says so itself."""
        one = Mark(
            event="live" if event == "live" else "dead",
            buffer=self.slot.buffers[0],
            pointer=f"{self.element(tile, ahead)}.bytes",
            size_bytes=self.slot.size_bytes,
        )
        return () if self.slot.borrowed else (one,)

    def exists(self, tile: str, ahead: int) -> str:
        """Holds where there is a window `ahead` windows after that of `tile`. Constant where that is known."""
        later, total = _plus(tile, ahead, self.period), self.level.total
        if later.isdigit() and total.isdigit():
            return "" if int(later) < int(total) else NEVER
        return "" if later == "0" else f"{later} < {total}"

    def first(self, tile: str) -> str:
        """Holds for the first tile of a window."""
        return "" if self.period == "1" else f"{tile} % {factor(self.period)} == 0"

    def last(self, tile: str) -> str:
        """Holds for the last tile of a window."""
        return "" if self.period == "1" else f"({tile} + 1) % {factor(self.period)} == 0"


def pipeline(tilings: Sequence[TiledStep], region: Region, at: int = 0) -> Pipeline:
    """All levels from number `at` on, all steps in each tile."""
    sink = tilings[-1]
    if at == len(sink.nest.levels):
        return _computed(tilings, region)
    level, deepest = sink.nest.levels[at], at + 1 == len(sink.nest.levels)
    movers = [_mover_of(tiling, at, slot) for tiling in tilings for slot in tiling.slots[at]]
    inner = pipeline(tilings, region, at + 1)
    calls, own = (inner.body, ()) if deepest or not level.moving else _as_part(tilings, at, inner)
    calls = pointed(calls, movers, level)
    box: tuple[Statement, ...] = ()
    if not deepest and level.moving and _needs_box(level, calls):
        box = (sink.box.declare(level),)
    moves = tile_loop(level, movers, calls, box=box, also=_lasting(tilings, region) if deepest else None)
    body = (*declared(declarations(sink.book, level, movers, at), moves), *moves)
    boxes = (sink.box.part(level),) if level.moving else ()
    moving = [part for one in movers for part in (one.part, one.keep) if part]
    return Pipeline(body=body, parts=(*boxes, *moving, *inner.parts, *own), sources=inner.sources)


def _mover_of(tiling: TiledStep, at: int, slot: TileBuffers) -> Mover:
    keep = window_rows_part(tiling, at, slot) if slot.roll else None
    return Mover(slot=slot, part=move_part(tiling, at, slot), level=tiling.nest.levels[at], keep=keep)


def _computed(tilings: Sequence[TiledStep], region: Region) -> Pipeline:
    """Every step in one tile: rows that stay are moved, then each computes its part of it, a barrier after each."""
    made = [compute_part(tiling) for tiling in tilings]
    keeps = [part for tiling in tilings if tiling.nest.levels for part in held_rows_part(tiling)]
    steps: list[Statement] = [call_part(part, {}) for part in keeps]
    if keeps:
        steps.append(Barrier())
    for tiling, (part, _) in zip(tilings, made, strict=True):
        final = tiling is tilings[-1]
        call = (call_part(part, {}),) if final else (call_part(part, {}), Barrier())
        steps.extend(call if final else when(tiling.first(), call))
    parts = (*keeps, *(part for part, _ in made))
    return Pipeline(body=tuple(steps), parts=parts, sources=tuple(text for _, text in made))


def _lasting(tilings: Sequence[TiledStep], region: Region) -> ExtraMoverWork:
    """Where sums, and what passes from step to step, begin and end to hold data: with every tile, or for all tiles."""
    lasting: list[tuple[Statement, Statement]] = []
    fresh: list[Statement] = []
    gone: list[Statement] = []
    sums = tilings[-1].sums
    if sums is not None and not sums.in_output:
        lasting.append((held_mark("live", sums.held), held_mark("dead", sums.held)))
    for tiling in tilings[:-1]:
        (binding,) = [binding for binding in tiling.bindings if binding.written]
        held = region.held[binding.what]
        marks = held_mark("live", tiling.inner[binding.operand]), held_mark("dead", tiling.inner[binding.operand])
        if held.form == "recomputed" and tiling.nest.levels[-1].moving:
            fresh.extend(when(tiling.first(), marks[:1]))
            gone.extend(when(tiling.last(), marks[1:]))
        else:
            lasting.append(marks)
    return ExtraMoverWork(
        before=tuple(live for live, _ in lasting),
        arriving=tuple(fresh),
        leaving=tuple(gone),
        after=tuple(dead for _, dead in lasting),
    )


def held_mark(event: str, held: OperandLocation) -> Statement:
    """Where bytes begin or end to hold data."""
    (region,) = held.ranges
    return Mark(
        event="live" if event == "live" else "dead",
        buffer=region.buffer,
        pointer=held.address(),
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
    outer = [Parameter(type=struct, name=one.variable, argument="") for one in sink.nest.levels[: at + 1]]
    held = [tiling.held(binding, at + 1).parameter for tiling in tilings for binding in tiling.bindings]
    part = Part(
        role="pipeline",
        function=f"{sink.function}_{below.hop.near}",
        comment=(f"A tile in {level.hop.near}, cut again.",),
        parameters=used([*outer, *held, *sink.book.bases], inner.body),
        body=inner.body,
    )
    return (call_part(part, {}),), (part,)


def declarations(book: AddressBook, level: HopLevel, movers: Sequence[Mover], at: int) -> Iterable[Statement]:
    """Numbers of tiles where they vary, and the slots of the tile buffers with the queue of their transfers."""
    for cut in level.cuts:
        if cut.trips.number is None:
            around = level.outer[cut.loop][0]
            value = f"tw_tiles({str(around).removesuffix('.low')}, {cut.size})"
            yield Declare(type="const int32_t", name=str(cut.trips), value=value)
    queue = f"copies_{at}" if at else "copies"
    if movers:
        yield Declare(type="tw_queue", name=queue, value="{.started = 0}")
    for mover in movers:
        places = [book.of_buffer(name) for name in mover.slot.buffers]
        starts = [place.parameter.name + (f" + {place.offset_bytes}" if place.offset_bytes else "") for place in places]
        slots = ", ".join(f"{{.bytes = {start}, .queue = &{queue}}}" for start in starts)
        yield Declare(type="tw_slot", name=f"{mover.slot.name}[{len(places)}]", value=f"{{{slots}}}")


def _before(movers: Sequence[Mover]) -> Iterable[Statement]:
    """What is under way before the first tile."""
    for one in movers:
        if one.slot.binding.written:
            if one.slot.resident:
                yield from one.mark("live", "0")
        elif one.stays:
            yield from (*one.mark("live", "0"), one.start("0"))
        for ahead in () if one.stays or one.slot.binding.written else range(max(one.span - 1, 1)):
            yield from when(one.exists("0", ahead), (*one.mark("live", "0", ahead), one.start("0", ahead)))
    yield from (one.wait("0") for one in movers if one.slot.resident and not one.slot.binding.written)


def tile_loop(
    level: HopLevel,
    movers: Sequence[Mover],
    called: tuple[Statement, ...],
    *,
    box: tuple[Statement, ...] = (),
    also: ExtraMoverWork | None = None,
) -> tuple[Statement, ...]:
    """All tiles of a level: `called` for each, once what it needs has arrived. `box` is declared for each tile."""
    more = also or ExtraMoverWork()
    body = (
        *box,
        *_mover((*_arriving(movers, level), *more.arriving)),
        Barrier(),
        *called,
        Barrier(),
        *_keeping(movers, level),
        *_mover((*_leaving(movers, level), *more.leaving)),
    )
    if level.moving:
        body = (For(variable=level.counter, start="0", stop=level.total, step="1", body=body),)
    return (*_mover((*_before(movers), *more.before)), *body, *_mover((*_after(movers), *more.after)))


def _keeping(movers: Sequence[Mover], level: HopLevel) -> tuple[Statement, ...]:
    """The cores move the rows that stay of windows of which more is brought."""
    t = level.counter
    calls: list[Statement] = []
    for one in movers:
        if one.keep is not None:
            later = _plus(t, 1, one.period)
            call = call_part(one.keep, {t: later, one.slot.name: f"{one.slot.name}[0].bytes"}, later)
            calls.extend(when(_and(one.last(t), one.exists(t, 1)), (call,)))
    return (*calls, Barrier()) if calls else ()


def _arriving(movers: Sequence[Mover], level: HopLevel) -> Iterable[Statement]:
    """What the mover does before a tile is computed."""
    t = level.counter
    inputs = [one for one in movers if not one.slot.binding.written and not one.slot.resident]
    for one in inputs:
        yield from when(one.first(t), (one.wait(t),))
    for one in inputs:
        if one.span > 1:
            later = *one.mark("live", t, one.span - 1), one.start(t, one.span - 1)
            yield from when(_and(one.first(t), one.exists(t, one.span - 1)), later)
    for one in movers:
        if one.slot.binding.written and not one.slot.resident:
            yield from when(one.first(t), (one.wait(t),))
            used_before = NEVER if one.exists("0", one.span) == NEVER else f"{t} >= {_plus('0', one.span, one.period)}"
            yield from when(_and(one.first(t), used_before), one.mark("dead", t))
            yield from when(one.first(t), one.mark("live", t))


def _leaving(movers: Sequence[Mover], level: HopLevel) -> Iterable[Statement]:
    """What the mover does once a tile is computed. Fetches first: stores may go on while the next one is computed."""
    t = level.counter
    moving = [one for one in movers if not one.slot.resident]
    for one in moving:
        if not one.slot.binding.written:
            marks = (() if one.stays else one.mark("dead", t)), (() if one.stays else one.mark("live", t, 1))
            yield from when(one.last(t), marks[0])
            if one.span == 1:
                yield from when(_and(one.last(t), one.exists(t, 1)), (*marks[1], one.start(t, 1)))
    for one in moving:
        if one.slot.binding.written:
            yield from when(one.last(t), (one.start(t),))


def _after(movers: Sequence[Mover]) -> Iterable[Statement]:
    """What is left after the last tile."""
    for one in movers:
        if one.stays:
            yield from (one.start("0"),) if one.slot.binding.written else one.mark("dead", "0")
    for one in movers:
        if one.slot.binding.written:
            for number in range(1 if one.slot.resident else one.span):
                yield one.wait("0", number)
                yield from when(one.exists("0", number), one.mark("dead", "0", number))


def pointed(called: tuple[Statement, ...], movers: Sequence[Mover], level: HopLevel) -> tuple[Statement, ...]:
    """The calls with the addresses of this level's slots."""
    given = {one.slot.name: f"{one.element(level.counter)}.bytes" for one in movers}

    def aimed(one: Statement) -> Statement:
        if isinstance(one, If):
            return replace(one, body=tuple(map(aimed, one.body)))
        if isinstance(one, PartCall):
            return replace(one, arguments=tuple(given.get(text, text) for text in one.arguments), tile=level.counter)
        return one

    return tuple(map(aimed, called))


def _needs_box(level: HopLevel, called: tuple[Statement, ...]) -> bool:
    return any(isinstance(one, PartCall) and level.variable in one.arguments for one in called)


def _mover(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """`statements` on the mover only; neighbours under one condition share it."""
    merged: list[Statement] = []
    for statement in statements:
        before = merged[-1] if merged else None
        if isinstance(statement, If) and isinstance(before, If) and statement.condition == before.condition:
            merged[-1] = If(condition=before.condition, body=(*before.body, *statement.body))
        else:
            merged.append(statement)
    return (If(condition=MOVER, body=tuple(merged)),) if merged else ()


def when(condition: str, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    if NEVER in condition or not body:
        return ()
    return (If(condition=condition, body=body),) if condition else body


def _and(*conditions: str) -> str:
    return " && ".join(one for one in conditions if one)


def _plus(tile: str, windows: int, period: str) -> str:
    """`tile`, or the tile `windows` windows later."""
    if not windows:
        return tile
    if period.isdigit():
        distance = str(windows * int(period))
    else:
        distance = f"{windows} * {factor(period)}" if windows > 1 else period
    return distance if tile == "0" else f"{tile} + {distance}"
