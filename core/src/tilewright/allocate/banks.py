"""Knows how blocks are kept in banks of a pool: banks are chosen for them, and each may not touch any other bank.
Does not know kernels beyond what they demand, nor how blocks are placed.

That a block stays in its bank is a conflict with blocks that are never alive and cover all of the pool but that bank:
so every allocator keeps it, and only the choice of banks is made here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from tilewright.ir.plans.allocation import Block, Place, Pool, Problem, Solution
from tilewright.ir.plans.operand_banks import BankDemand
from tilewright.ir.rounding import ceil_div

MOST_CHOICES = 32  # of banks, with which places are looked for
_MOST_STEPS = 20_000  # of the search for them

Choice = Mapping[tuple[str, str], int]  # (block, pool) -> bank


@dataclass(frozen=True, slots=True, kw_only=True)
class Banks:
    """What blocks of a problem have to keep: `whole` lie in one bank each, `apart` not in the same. `sizes`: by pool
    that has banks, the bytes of one.
    """

    whole: tuple[str, ...]
    apart: frozenset[tuple[str, str]]  # either way round
    sizes: Mapping[str, int]

    def kept(self, solution: Solution, problem: Problem) -> bool:
        """Whether places keep it."""
        blocks = {block.name: block for block in problem.blocks}
        banks = {name: self._banks(blocks[name], solution.places[name]) for name in self.whole}
        return all(len(own) <= 1 for own in banks.values()) and not any(
            banks[left] & banks[right] for left, right in self.apart
        )

    def _banks(self, block: Block, place: Place) -> frozenset[tuple[str, int]]:
        size = self.sizes.get(place.pool)
        if size is None or not block.size_bytes:
            return frozenset()
        first, last = place.offset_bytes // size, (place.offset_bytes + block.size_bytes - 1) // size
        return frozenset((place.pool, bank) for bank in range(first, last + 1))


def banks_of(demands: Sequence[BankDemand], problem: Problem, sizes: Mapping[str, int]) -> Banks:
    """What kernels demand of the blocks of a problem that may be in a pool with banks."""
    placed = {block.name for block in problem.blocks if block.size_bytes and any(name in sizes for name in block.pools)}
    named = dict.fromkeys(name for demand in demands for names in demand.buffers.values() for name in names)
    pairs = {pair for demand in demands for pair in demand.apart if placed.issuperset(pair)}
    return Banks(
        whole=tuple(name for name in named if name in placed),
        apart=frozenset((*pairs, *((right, left) for left, right in pairs))),
        sizes=sizes,
    )


def choices(banks: Banks, problem: Problem) -> Iterator[Choice]:
    """Banks for all blocks that want one, best spread first; none where there can be none. Not all of very many."""
    blocks = {block.name: block for block in problem.blocks}
    pools = {pool.name: pool for pool in limited(problem, banks).pools if pool.name in banks.sizes}
    wanted = [(blocks[name], pool) for name in banks.whole for pool in blocks[name].pools if pool in pools]
    wanted.sort(key=lambda item: (-item[0].size_bytes, item[0].name, item[1]))
    search = _Search(banks=banks, pools=pools, wanted=tuple(wanted), budget=[_MOST_STEPS])
    yield from islice(search.from_here(0, {}), MOST_CHOICES)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    banks: Banks
    pools: Mapping[str, Pool]
    wanted: tuple[tuple[Block, str], ...]
    budget: list[int]

    def from_here(self, at: int, chosen: dict[tuple[str, str], int]) -> Iterator[Choice]:
        """Every way to go on from what is chosen for the first `at` of them."""
        self.budget[0] -= 1
        if self.budget[0] < 0:
            return
        if at == len(self.wanted):
            yield dict(chosen)
            return
        block, pool = self.wanted[at]
        beside = [(other, chosen[other.name, where]) for other, where in self.wanted[:at] if where == pool]
        loads = {
            bank: _load(block, [other for other, own in beside if own == bank]) for bank in self._able(block, pool)
        }
        for bank in sorted(loads, key=lambda bank: (loads[bank], bank)):
            low, high = _span(self.pools[pool], bank, self.banks.sizes[pool])
            parted = any(own == bank and (block.name, other.name) in self.banks.apart for other, own in beside)
            if parted or block.size_bytes + loads[bank] > high - low:
                continue
            yield from self.from_here(at + 1, {**chosen, (block.name, pool): bank})

    def _able(self, block: Block, pool: str) -> Sequence[int]:
        """The banks that a block may be in: all, or the one where it is demanded."""
        size, capacity = self.banks.sizes[pool], self.pools[pool].capacity_bytes or 0
        if block.fixed_offset is not None:
            return (block.fixed_offset // size,)
        return range(ceil_div(capacity, size))


def _load(block: Block, others: Sequence[Block]) -> int:
    """The most bytes of others that are alive at one time with a block."""
    times = [first for other in (block, *others) for first, _ in other.lifetimes]
    alive = (time for time in times if _lives(block, time))
    return max((sum(other.size_bytes for other in others if _lives(other, time)) for time in alive), default=0)


def _lives(block: Block, time: int) -> bool:
    return any(first <= time <= last for first, last in block.lifetimes)


def _span(pool: Pool, bank: int, size: int) -> tuple[int, int]:
    return bank * size, min((bank + 1) * size, pool.capacity_bytes or 0)


def limited(problem: Problem, banks: Banks) -> Problem:
    """The same with an end to pools that have none: where each block could have a bank to itself, and the rest room."""
    total = sum(block.size_bytes + block.align for block in problem.blocks)
    pools = (
        replace(pool, capacity_bytes=total + len(banks.whole) * banks.sizes[pool.name])
        if pool.name in banks.sizes and pool.capacity_bytes is None
        else pool
        for pool in problem.pools
    )
    return replace(problem, pools=tuple(pools))


def with_banks(problem: Problem, banks: Banks, choice: Choice) -> Problem:
    """The problem in which each block stays in the bank that was chosen for it. No pool with banks is without end."""
    pools = {pool.name: pool for pool in problem.pools}
    walls: dict[str, Block] = {}
    conflicts = list(problem.conflicts)
    for (name, pool), bank in choice.items():
        low, high = _span(pools[pool], bank, banks.sizes[pool])
        for start, stop in ((0, low), (high, pools[pool].capacity_bytes or 0)):
            if start < stop:
                wall = f"{pool} from {start} to {stop}: none of bank {bank}"
                walls[wall] = Block(name=wall, size_bytes=stop - start, lifetimes=(), pools=(pool,), fixed_offset=start)
                conflicts.append((name, wall))
    return replace(problem, blocks=(*problem.blocks, *walls.values()), conflicts=tuple(conflicts))


def without_walls(solution: Solution, problem: Problem, bounds: Mapping[str, int]) -> Solution:
    """The places of the problem's own blocks. What was proved of the other problem proves nothing about this one."""
    own = {block.name for block in problem.blocks}
    places = {name: place for name, place in solution.places.items() if name in own}
    return replace(solution, status="feasible", places=places, bounds=bounds)
