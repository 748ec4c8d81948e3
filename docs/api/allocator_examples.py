# %% before all examples
from dataclasses import dataclass

from tilewright.api import align_up
from tilewright.api.allocator import (
    Allocator,
    Block,
    Budget,
    Place,
    Pool,
    Problem,
    Solution,
    Within,
    lower_bounds,
    stack,
)

# %% Problem, Block, Pool
# Two blocks that are alive together, and one that comes later, in a pool of 96 bytes.
problem = Problem(
    blocks=(
        Block(name="image", size_bytes=64, lifetimes=((0, 1),), pools=("ram",)),
        Block(name="rows", size_bytes=20, align=4, lifetimes=((1, 2),), pools=("ram",)),
        Block(name="result", size_bytes=10, lifetimes=((2, 3),), pools=("ram",)),
    ),
    pools=(Pool(name="ram", capacity_bytes=96),),
)

# %% Within
# What a plan may demand beside it: `result` inside `rows`, from its fourth byte on. Allocators of plugins need not
# know: the core has merged such blocks before it asks.
assert Within(block="result", of="rows", offset_bytes=4).kind == "view"


# %% Allocator, Budget, Solution, Place
# One block after the other, none where another has been: valid, but not good. The core checks every answer.
@dataclass(frozen=True, slots=True, kw_only=True)
class InARow:
    name: str = "acme-row"
    summary: str = "every block has its own bytes"

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        places, end = {}, 0
        for block in problem.blocks:
            start = align_up(end, block.align)
            places[block.name] = Place(pool=block.pools[0], offset_bytes=start)
            end = start + block.size_bytes
        return Solution(status="feasible", places=places, work=len(problem.blocks))


allocator: Allocator = InARow()
assert allocator.solve(problem, Budget()).places["rows"] == Place(pool="ram", offset_bytes=64)

# %% lower_bounds
# No placement is under this: 64 and 20 bytes at the same time.
assert lower_bounds(problem) == {"ram": 84}

# %% stack
# A fast placement to begin with, for any number of blocks. It says "optimal" where it meets the bound.
assert stack(problem).status == "optimal"
