"""For authors of allocators.

Blocks with lifetimes, pools to place them in, and what an answer is. No graph, no step.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.allocate.packing.lower_bound import lower_bounds
from tilewright.allocate.packing.stacking import stack
from tilewright.ir.plans.allocation import Allocator, Block, Budget, Place, Pool, Problem, Solution, Within

__all__ = ["Allocator", "Block", "Budget", "Place", "Pool", "Problem", "Solution", "Within", "lower_bounds", "stack"]
