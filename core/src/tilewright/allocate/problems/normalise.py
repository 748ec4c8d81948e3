"""Knows how any problem becomes problems that every allocator understands, and how a solution is read back: its normal
form, and its parts over disjoint pools. Does not know how they are solved, and is not trusted: `check` looks at the
original.

In the normal form, blocks that are one piece of memory are one block; pools that a block's engines cannot use, or that
are not aligned enough for it, are removed; blocks of no bytes are left out; sizes are divided by their common measure,
because in a packing in which every block has sunk as low as it can all offsets are multiples of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tilewright.ir.plans.allocation import Block, Place, Pool, Problem, Solution
from tilewright.ir.plans.block_columns import columns_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """A normalised problem. `exact` False: a piece was made longer to align its blocks, so that a proof about this
    problem proves nothing about the original. `pieces` None: each block is the one of that name there."""

    original: Problem
    problem: Problem
    exact: bool
    scale: int  # bytes of the original per byte of this one
    pieces: Mapping[str, tuple[tuple[str, int], ...]] | None  # block here -> (block there, bytes from the start)
    empty: Mapping[str, Place]  # blocks of no bytes, placed

    def restore(self, solution: Solution) -> Solution:
        """The same solution for the original problem."""
        if self.pieces is None:
            return self._of_single_blocks(solution)
        places = dict(self.empty)
        for name, members in self.pieces.items():
            if (place := solution.places.get(name)) is not None:
                for block, at in members:
                    places[block] = Place(pool=place.pool, offset_bytes=place.offset_bytes * self.scale + at)
        strange = {name: place for name, place in solution.places.items() if name not in self.pieces}
        ordered = {block.name: places[block.name] for block in self.original.blocks if block.name in places}
        bounds = {pool: bound * self.scale for pool, bound in solution.bounds.items()} if self.exact else {}
        is_placed = bool(solution.places) or not self.pieces
        answer = replace(solution, places={**ordered, **strange} if is_placed else {}, bounds=bounds)
        return answer if self.exact else _unproved(answer)

    def _of_single_blocks(self, solution: Solution) -> Solution:
        """Where each block here is the one there of that name, and nothing is empty."""
        there, scale = solution.places, self.scale
        places = {
            name: Place(pool=place.pool, offset_bytes=place.offset_bytes * scale)
            for name, place in ((block.name, there.get(block.name)) for block in self.original.blocks)
            if place is not None
        }
        strange = {} if len(places) == len(there) else {name: at for name, at in there.items() if name not in places}
        bounds = {pool: bound * scale for pool, bound in solution.bounds.items()}
        return replace(solution, places={**places, **strange} if strange else places, bounds=bounds)


def _unproved(solution: Solution) -> Solution:
    if solution.status == "optimal":
        return replace(solution, status="feasible")
    return replace(solution, status="unknown") if solution.status == "infeasible" else solution


def normalised(problem: Problem) -> Normal | str:
    """The problem in normal form, or why it has no solution. It must be well-formed."""
    if _is_of_single_blocks(problem):
        scale = _measure(problem)
        return Normal(original=problem, problem=_scaled(problem, scale), exact=True, scale=scale, pieces=None, empty={})
    return _of_pieces(problem)


def _of_pieces(problem: Problem) -> Normal | str:
    """The same block by block, with those joined that are one piece."""
    pools = {pool.name: pool for pool in problem.pools}
    pieces = _pieces(problem)
    if isinstance(pieces, str):
        return pieces
    merged: list[Block] = []
    members: dict[str, tuple[tuple[str, int], ...]] = {}
    empty: dict[str, Place] = {}
    exact = True
    for piece in pieces:
        usable = _usable(piece, pools)
        if isinstance(usable, str):
            return usable
        made = _merged(piece, usable)
        if isinstance(made, str):
            return made
        block, placed, padded = made
        if not any(part.size_bytes for part, _ in piece):
            home = _home(block, pools)
            if home is None:
                return f"block '{block.name}' is demanded beyond the end of its pool"
            empty.update({name: replace(home, offset_bytes=home.offset_bytes + at) for name, at in placed})
            continue
        merged.append(block)
        members[block.name] = placed
        exact = exact and not padded
    pairs = bool(problem.conflicts or problem.compatible)
    lead = {name: block for block, placed in members.items() for name, _ in placed} if pairs else {}
    joined = replace(
        problem,
        blocks=tuple(merged),
        conflicts=_lifted(problem.conflicts, lead),
        compatible=_compatible(problem, members, lead),
        within=(),
    )
    scale = _measure(joined)
    return Normal(
        original=problem, problem=_scaled(joined, scale), exact=exact, scale=scale, pieces=members, empty=empty
    )


def _is_of_single_blocks(problem: Problem) -> bool:
    """Whether they are very many, and each would become what it is: only lengths are divided."""
    columns = columns_of(problem.blocks)
    if columns is None or problem.within or problem.conflicts or problem.compatible or not columns.sizes.all():
        return False
    if any(block.engines or block.fixed_offset is not None or block.hint is not None for block in problem.blocks):
        return False
    aligned = {pool.name: pool.align for pool in problem.pools}
    kinds = {(block.pools, block.align) for block in problem.blocks}
    return all(pools and all(not aligned[name] % align for name in pools) for pools, align in kinds)


Piece = list[tuple[Block, int]]  # blocks, and bytes from the start of the first one: may be negative


def _pieces(problem: Problem) -> list[Piece] | str:
    """Blocks joined by `within`, in the problem's order."""
    if not problem.within:
        return [[(block, 0)] for block in problem.blocks]
    home: dict[str, tuple[str, int]] = {block.name: (block.name, 0) for block in problem.blocks}
    groups: dict[str, list[str]] = {block.name: [block.name] for block in problem.blocks}
    size = {block.name: block.size_bytes for block in problem.blocks}
    for link in problem.within:
        if link.kind == "view" and not 0 <= link.offset_bytes <= size[link.of] - size[link.block]:
            return f"block '{link.block}' is a view and does not lie inside '{link.of}'"
        (inner, at), (outer, there) = home[link.block], home[link.of]
        shift = there + link.offset_bytes - at  # of the inner group, seen from the outer
        if inner == outer:
            if shift:
                return f"block '{link.block}' cannot be at two distances from '{link.of}'"
            continue
        for name in groups.pop(inner):
            home[name] = (outer, home[name][1] + shift)
            groups[outer].append(name)
    blocks = {block.name: block for block in problem.blocks}
    return [[(blocks[name], home[name][1]) for name in group] for group in groups.values()]


def _usable(piece: Piece, pools: Mapping[str, Pool]) -> tuple[str, ...] | str:
    """Pools that every block of the piece may be in, is aligned in, and can be used from."""
    first, left = piece[0][0], piece[0][0].pools
    if len(piece) == 1 and not first.engines and all(pools[name].align % first.align == 0 for name in left):
        return left
    for block, _ in piece:
        left = tuple(name for name in left if name in block.pools)
        if left and not (left := tuple(name for name in left if pools[name].align % block.align == 0)):
            return f"no pool is aligned enough for block '{block.name}'"
        for engine, wanted in block.engines:
            left = tuple(name for name in left if dict(pools[name].access).get(engine, "rw") in ("rw", wanted))
    return left or f"block '{piece[0][0].name}' has no pool left that it may be in"


def _home(block: Block, pools: Mapping[str, Pool]) -> Place | None:
    """Where a piece of no bytes is: the first pool that reaches so far."""
    offset = block.fixed_offset or 0
    for name in block.pools:
        capacity = pools[name].capacity_bytes
        if capacity is None or offset + block.size_bytes <= capacity:
            return Place(pool=name, offset_bytes=offset)
    return None


def _merged(piece: Piece, pools: tuple[str, ...]) -> tuple[Block, tuple[tuple[str, int], ...], bool] | str:
    """One block for the piece, its members' distances from its start, and whether it was made longer in front."""
    if len(piece) == 1 and piece[0][0].fixed_offset is None:
        block, _ = piece[0]
        return _on_its_own(block, pools), ((block.name, 0),), False
    low = min(at for _, at in piece)
    high = max(at + block.size_bytes for block, at in piece)
    demanded = {block.fixed_offset - at + low for block, at in piece if block.fixed_offset is not None}
    align = math.lcm(*(block.align for block, _ in piece))
    name = piece[0][0].name
    if len(demanded) > 1:
        return f"blocks in one piece with '{name}' are demanded at offsets that exclude each other"
    if demanded and min(demanded) < 0:
        return f"the piece of block '{name}' is demanded where it begins before its pool"
    for block, at in piece:
        if block.fixed_offset is not None and block.fixed_offset % block.align:
            return f"block '{block.name}' is demanded at {block.fixed_offset}, which is not a multiple of {block.align}"
        if demanded and (min(demanded) - low + at) % block.align:
            return f"block '{block.name}' would not be aligned to {block.align} where its piece is demanded"
    front = 0
    if not demanded:
        front = next((r for r in range(align) if all((r - low + at) % b.align == 0 for b, at in piece)), -1)
        if front < 0:
            return f"no address aligns all blocks that are one piece with '{name}'"
    lifetimes = sorted({interval for block, _ in piece for interval in block.lifetimes})
    hint = next((block.hint - at + low - front for block, at in piece if block.hint is not None), None)
    whole = Block(
        name=name,
        size_bytes=high - low + front,
        align=1 if demanded else align,
        lifetimes=tuple(lifetimes),
        pools=pools,
        fixed_offset=min(demanded) if demanded else None,
        hint=hint if hint is None or hint >= 0 else None,
    )
    return whole, tuple((block.name, at - low + front) for block, at in piece), front > 0


def _on_its_own(block: Block, pools: tuple[str, ...]) -> Block:
    """A block that is one piece with no other and may be anywhere in its pools."""
    if pools == block.pools and len(block.lifetimes) < 2 and not block.engines and block.hint is None:
        return block
    lifetimes = block.lifetimes if len(block.lifetimes) < 2 else tuple(sorted(set(block.lifetimes)))
    return Block(
        name=block.name,
        size_bytes=block.size_bytes,
        align=block.align,
        lifetimes=lifetimes,
        pools=pools,
        hint=block.hint if block.hint is None or block.hint >= 0 else None,
    )


def _lifted(pairs: Iterable[tuple[str, str]], lead: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Pairs of blocks as pairs of pieces; those inside one piece, or with a block of no bytes, are gone."""
    lifted = ((lead.get(first, ""), lead.get(second, "")) for first, second in pairs)
    return tuple(dict.fromkeys((min(pair), max(pair)) for pair in lifted if all(pair) and pair[0] != pair[1]))


def _compatible(
    problem: Problem, members: Mapping[str, tuple[tuple[str, int], ...]], lead: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Pieces may overlap where all their blocks that are alive at once may."""
    allowed = {frozenset(pair) for pair in problem.compatible}
    lifetimes = {block.name: block.lifetimes for block in problem.blocks}
    return tuple(
        (first_piece, second_piece)
        for first_piece, second_piece in _lifted(problem.compatible, lead)
        if all(
            frozenset((a, b)) in allowed
            for a, _ in members[first_piece]
            for b, _ in members[second_piece]
            if any(f <= last and first <= g for f, g in lifetimes[a] for first, last in lifetimes[b])
        )
    )


def _measure(problem: Problem) -> int:
    """The largest unit such that sizes, demanded offsets and ends of reserved ranges are multiples of it, and every
    alignment divides it or is a multiple of it."""
    lengths = [block.size_bytes for block in problem.blocks]
    lengths += [block.fixed_offset for block in problem.blocks if block.fixed_offset]
    lengths += [high for pool in problem.pools for _, high in pool.reserved]
    unit = math.gcd(*lengths) or 1
    aligns = {block.align for block in problem.blocks}
    while crooked := [align for align in sorted(aligns) if unit % align and align % unit]:
        unit = math.gcd(unit, crooked[0])
    return unit


def _divided(block: Block, unit: int) -> Block:
    return Block(
        name=block.name,
        size_bytes=block.size_bytes // unit,
        align=max(block.align // unit, 1),
        lifetimes=block.lifetimes,
        pools=block.pools,
        fixed_offset=None if block.fixed_offset is None else block.fixed_offset // unit,
        hint=None if block.hint is None else block.hint // unit,
    )


def _scaled(problem: Problem, unit: int) -> Problem:
    blocks = problem.blocks if unit == 1 else tuple(_divided(block, unit) for block in problem.blocks)
    align = math.lcm(*(block.align for block in blocks))
    pools = tuple(
        replace(
            pool,
            capacity_bytes=None if pool.capacity_bytes is None else pool.capacity_bytes // unit,
            align=align,  # pools that are not aligned enough are no candidates any more
            reserved=tuple((low // unit, high // unit) for low, high in pool.reserved),
            base=None,
            access=(),
        )
        for pool in problem.pools
    )
    return replace(problem, blocks=blocks, pools=pools)


def independent_parts(problem: Problem) -> tuple[Problem, ...]:
    """Problems over disjoint pools whose solutions together solve `problem`; those without blocks are left out."""
    group = {pool.name: pool.name for pool in problem.pools}
    for block in problem.blocks:
        joined = {group[name] for name in block.pools}
        first = min(joined, default="")
        group = {name: first if of in joined else of for name, of in group.items()}
    parts = []
    for lead in dict.fromkeys(group.values()):
        blocks = tuple(block for block in problem.blocks if block.pools and group[block.pools[0]] == lead)
        if not blocks:
            continue
        names = {block.name for block in blocks}
        parts.append(
            replace(
                problem,
                blocks=blocks,
                pools=tuple(pool for pool in problem.pools if group[pool.name] == lead),
                conflicts=tuple(pair for pair in problem.conflicts if names.issuperset(pair)),
                compatible=tuple(pair for pair in problem.compatible if names.issuperset(pair)),
            )
        )
    return tuple(parts)
