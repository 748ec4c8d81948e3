"""An allocator: it gives blocks with lifetimes a place each. Its answer is checked."""

from dataclasses import dataclass

from tilewright.api import align_up, hookimpl
from tilewright.api.allocator import Place, Solution


def alive_together(one, other):
    return any(a <= d and c <= b for a, b in one.lifetimes for c, d in other.lifetimes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    name: str = "${name}"
    summary: str = "first block first, as low as the blocks before it allow"

    def solve(self, problem, budget):
        if any(block.fixed_offset is not None for block in problem.blocks):
            return Solution(status="unknown", reason="${name} cannot keep offsets that are pinned")
        places = {}
        for index, block in enumerate(problem.blocks):
            pool, offset = block.pools[0], 0
            for other in problem.blocks[:index]:
                place = places[other.name]
                if place.pool == pool and alive_together(block, other):
                    offset = max(offset, place.offset_bytes + other.size_bytes)
            places[block.name] = Place(pool=pool, offset_bytes=align_up(offset, block.align))
        return Solution(status="feasible", places=places, work=len(problem.blocks))


@hookimpl
def tilewright_allocators():
    return (Strategy(),)
