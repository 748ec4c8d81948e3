"""Knows whether a solution solves its problem, from the definition alone: V1 to V8 of `docs/allocation.md`; of very
many blocks with one lifetime first all at once, which says no more than that nothing is wrong. Does not know, import
or trust any allocator, nor what the core does to a problem before it asks one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tilewright.ir.plans.allocation import Block, Place, Pool, Problem, Solution
from tilewright.ir.plans.block_columns import MANY, BlockColumns, columns_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.int64]


def violations(problem: Problem, solution: Solution) -> tuple[str, ...]:
    """Everything that is wrong with `solution`; empty when nothing is."""
    if is_surely_right(problem, solution):
        return ()
    names, pools = {block.name for block in problem.blocks}, {pool.name: pool for pool in problem.pools}
    faults = [f"block '{name}' is placed but not in the problem" for name in sorted(set(solution.places) - names)]
    for block in problem.blocks:
        place = solution.places.get(block.name)
        if place is None:
            faults.append(f"block '{block.name}' has no place")
        else:
            faults.extend(f"block '{block.name}' {fault}" for fault in _alone(block, place, pools))
    faults.extend(_torn(problem, solution))
    if not faults:  # only then has every piece one place
        faults.extend(_shared(problem, solution))
        used = peaks(problem, solution)
        faults.extend(
            f"pool '{name}' has a peak of {used.get(name, 0)}, under its lower bound {bound}"
            for name, bound in sorted(solution.bounds.items())
            if used.get(name, 0) < bound
        )
    return tuple(dict.fromkeys(faults))


def peaks(problem: Problem, solution: Solution) -> dict[str, int]:
    """Bytes used of each pool, counted from offset 0 to the end of the topmost block."""
    sizes = {block.name: block.size_bytes for block in problem.blocks}
    used = {pool.name: 0 for pool in problem.pools}
    for name, place in solution.places.items():
        if sizes[name]:
            used[place.pool] = max(used[place.pool], place.offset_bytes + sizes[name])
    return used


def _alone(block: Block, place: Place, pools: Mapping[str, Pool]) -> Iterator[str]:
    """Faults of one block's place that need no other block: V2, V3, V4, V6."""
    if place.pool not in pools:
        yield f"is in '{place.pool}', which is no pool"
        return
    pool = pools[place.pool]
    end = place.offset_bytes + block.size_bytes
    if place.pool not in block.pools:
        yield f"may not be in pool '{place.pool}'"
    if block.engines:
        yield from _refused(block, pool)
    if place.offset_bytes < 0:
        yield f"starts at {place.offset_bytes}"
    if place.offset_bytes % block.align:
        yield f"at {place.offset_bytes} is not aligned to {block.align}"
    if pool.align % block.align:
        yield f"needs alignment {block.align}, pool '{pool.name}' has {pool.align}"
    if pool.capacity_bytes is not None and end > pool.capacity_bytes:
        yield f"ends at {end}, pool '{pool.name}' at {pool.capacity_bytes}"
    if block.fixed_offset is not None and place.offset_bytes != block.fixed_offset:
        yield f"is at {place.offset_bytes}, not at {block.fixed_offset} as demanded"
    if block.size_bytes and any(place.offset_bytes < high and low < end for low, high in pool.reserved):
        yield f"is in a reserved range of pool '{pool.name}'"


def _refused(block: Block, pool: Pool) -> Iterator[str]:
    access = dict(pool.access)
    for engine, wanted in block.engines:
        if access.get(engine, "rw") not in ("rw", wanted):
            yield f"is used by engine '{engine}' ({wanted}), which has no such access to pool '{pool.name}'"


def _torn(problem: Problem, solution: Solution) -> Iterator[str]:
    """V7."""
    sizes = {block.name: block.size_bytes for block in problem.blocks}
    for link in problem.within:
        inner, outer = solution.places.get(link.block), solution.places.get(link.of)
        if inner is None or outer is None:
            continue
        if inner.pool != outer.pool or inner.offset_bytes != outer.offset_bytes + link.offset_bytes:
            yield f"block '{link.block}' is not {link.offset_bytes} bytes after '{link.of}', where it belongs"
        if link.kind == "view" and not 0 <= link.offset_bytes <= sizes[link.of] - sizes[link.block]:
            yield f"block '{link.block}' is a view and does not lie inside '{link.of}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """Blocks that are one piece of memory, and where it is."""

    number: int
    blocks: tuple[Block, ...]
    pool: str
    low: int
    high: int

    @property
    def title(self) -> str:
        return self.blocks[0].name


def _tied(problem: Problem) -> Iterable[tuple[Block, ...]]:
    """Blocks that are one piece, in the problem's order."""
    if not problem.within:
        return ((block,) for block in problem.blocks)
    lead = {block.name: block.name for block in problem.blocks}
    for link in problem.within:
        inner, outer = lead[link.block], lead[link.of]
        lead = {name: outer if of == inner else of for name, of in lead.items()} if inner != outer else lead
    members: dict[str, list[Block]] = {}
    for block in problem.blocks:
        members.setdefault(lead[block.name], []).append(block)
    return map(tuple, members.values())


def _pieces(problem: Problem, solution: Solution) -> list[_Piece]:
    pieces = []
    for number, blocks in enumerate(_tied(problem)):
        first = solution.places[blocks[0].name]
        low, high = first.offset_bytes, first.offset_bytes + blocks[0].size_bytes
        for block in blocks[1:]:
            at = solution.places[block.name].offset_bytes
            low, high = min(low, at), max(high, at + block.size_bytes)
        if low < high:
            pieces.append(_Piece(number=number, blocks=blocks, pool=first.pool, low=low, high=high))
    return pieces


def _shared(problem: Problem, solution: Solution) -> Iterator[str]:
    """V5: a sweep over time for pieces alive at once, then the explicit conflicts."""
    pieces = _pieces(problem, solution)
    paired = {name for pair in (*problem.conflicts, *problem.compatible) for name in pair}
    home = {block.name: piece for piece in pieces for block in piece.blocks if block.name in paired}
    allowed = {frozenset(pair) for pair in problem.compatible}
    lenient = {home[name].number for pair in problem.compatible for name in pair if name in home}
    for pool in problem.pools:
        inside = [piece for piece in pieces if piece.pool == pool.name]
        for piece_a, piece_b in _meetings(inside, lenient):
            if not _may_overlap(piece_a, piece_b, allowed):
                yield _clash(piece_a, piece_b)
    for name, name_of_other in problem.conflicts:
        if name not in home or name_of_other not in home:
            continue  # a block of no bytes
        piece_a, piece_b = home[name], home[name_of_other]
        if (
            piece_a != piece_b
            and piece_a.pool == piece_b.pool
            and piece_a.low < piece_b.high
            and piece_b.low < piece_a.high
        ):
            yield _clash(piece_a, piece_b)


def _clash(piece_a: _Piece, piece_b: _Piece) -> str:
    first, second = sorted((piece_a, piece_b), key=lambda piece: piece.number)
    return f"blocks '{first.title}' and '{second.title}' share bytes of pool '{first.pool}'"


def _may_overlap(piece_a: _Piece, piece_b: _Piece, allowed: set[frozenset[str]]) -> bool:
    """Whether every two of their blocks that are alive at once are a compatible pair."""
    return all(
        frozenset((a.name, b.name)) in allowed
        for a in piece_a.blocks
        for b in piece_b.blocks
        if any(f <= last and first <= g for f, g in a.lifetimes for first, last in b.lifetimes)
    )


def _lives(piece: _Piece) -> list[tuple[int, int]]:
    """Its closed intervals, overlapping ones joined."""
    if len(piece.blocks) == 1 and len(piece.blocks[0].lifetimes) < 2:
        return list(piece.blocks[0].lifetimes)
    lifetimes: list[tuple[int, int]] = []
    for first, last in sorted(interval for block in piece.blocks for interval in block.lifetimes):
        if lifetimes and first <= lifetimes[-1][1]:
            lifetimes[-1] = (lifetimes[-1][0], max(lifetimes[-1][1], last))
        else:
            lifetimes.append((first, last))
    return lifetimes


def _meetings(pieces: Sequence[_Piece], lenient: set[int]) -> Iterator[tuple[_Piece, _Piece]]:
    """Pairs that share bytes while both are alive. Strict pieces alive at once are kept apart, in a sorted list, so
    that only neighbours must be looked at; one that some other may overlap is compared with all that come later."""
    births = sorted((first, last, piece.number) for piece in pieces for first, last in _lives(piece))
    by_number = {piece.number: piece for piece in pieces}
    strict: list[tuple[int, int, int]] = []  # (low, high, number)
    loose: list[tuple[int, tuple[int, int, int]]] = []
    ends: list[tuple[int, tuple[int, int, int]]] = []
    for first, last, number in births:
        while ends and ends[0][0] < first:
            strict.pop(bisect_left(strict, ends.pop(0)[1]))
        loose = [(end, entry) for end, entry in loose if end >= first]
        piece = by_number[number]
        entry = (piece.low, piece.high, number)
        below, beyond = bisect_left(strict, entry), bisect_left(strict, (piece.high,))
        neighbours = strict[max(below - 1, 0) : beyond]
        met = [
            other
            for other in (*neighbours, *(item for _, item in loose))
            if other[0] < piece.high and piece.low < other[1]
        ]
        yield from ((piece, by_number[other[2]]) for other in met)
        if number in lenient:
            loose.append((last, entry))
        elif not met:
            insort(strict, entry)
            insort(ends, (last, entry))


_BEYOND = 1 << 62  # no byte is there


def is_surely_right(problem: Problem, solution: Solution, *, more_than: int = MANY) -> bool:
    """Whether nothing is wrong with a plan. False also where this is not the one to say so."""
    if problem.conflicts or problem.compatible or problem.within or any(pool.reserved for pool in problem.pools):
        return False
    columns = columns_of(problem.blocks, more_than=more_than)
    if columns is None or any(block.fixed_offset is not None or block.engines for block in problem.blocks):
        return False
    places = [place for block in problem.blocks if (place := solution.places.get(block.name)) is not None]
    if len(places) < len(problem.blocks) or len(solution.places) != len(problem.blocks):
        return False
    return _may_be_there(problem, places) and _are_inside_and_apart(problem, solution, columns, places)


def _may_be_there(problem: Problem, places: Sequence[Place]) -> bool:
    """Whether every block is in a pool that it may be in, and that is aligned for it."""
    aligned = {pool.name: pool.align for pool in problem.pools}
    kinds = {(block.pools, block.align, place.pool) for block, place in zip(problem.blocks, places, strict=True)}
    return all(name in pools and name in aligned and not aligned[name] % align for pools, align, name in kinds)


def _are_inside_and_apart(problem: Problem, solution: Solution, columns: BlockColumns, places: Sequence[Place]) -> bool:
    import numpy as np

    offsets = np.array([place.offset_bytes for place in places])
    if offsets.dtype != np.int64 or offsets.min() < 0 or offsets.max() >= _BEYOND or (offsets % columns.aligns).any():
        return False
    number = {pool.name: index for index, pool in enumerate(problem.pools)}
    pools = np.array([number[place.pool] for place in places])
    for index, pool in enumerate(problem.pools):
        inside = (pools == index) & (columns.sizes > 0)
        ends = offsets[inside] + columns.sizes[inside]
        every = offsets[pools == index] + columns.sizes[pools == index]
        if pool.capacity_bytes is not None and every.max(initial=0) > pool.capacity_bytes:
            return False
        if ends.max(initial=0) < solution.bounds.get(pool.name, 0):
            return False
        if not are_apart(columns.births[inside], columns.deaths[inside], offsets[inside], ends):
            return False
    return not set(solution.bounds) - set(number)


def are_apart(births: Numbers, deaths: Numbers, lows: Numbers, highs: Numbers) -> bool:
    """Whether of any two that are alive at one time none has a byte of the other: a sweep over time.

    `births` and `deaths` belong to the lifetime, `highs` are the first bytes behind. Between events the ends of all
    that is alive stand in one ascending list: low, high, low, high.
    """
    import numpy as np

    count = len(births)
    events = np.argsort(np.concatenate((2 * births, 2 * deaths + 1)), kind="stable")
    blocks = events % max(count, 1)
    edges = [_BEYOND << 1]
    for dies, low, high in zip((events >= count).tolist(), lows[blocks].tolist(), highs[blocks].tolist(), strict=True):
        at = bisect_right(edges, low)
        if dies:
            del edges[at - 1 : at + 1]
        elif at % 2 or edges[at] < high:
            return False
        else:
            edges[at:at] = (low, high)
    return True
