"""Networks whose plan comes from the allocator, and problems by hand."""

import tilewright
from tilewright.api.allocator import Budget, lower_bounds
from tilewright.api.testing import block, ram

from ${module} import Strategy


def test_a_network_is_placed_and_right(network):
    compiled = tilewright.compile(network, "generic", name="network", allocator="${name}")
    assert compiled.validate(on="host").passed


def test_blocks_that_are_never_alive_together_share_bytes():
    problem = ram(block("a", 64, 0, 1), block("b", 32, 1, 2), block("c", 64, 2, 3))
    solution = Strategy().solve(problem, Budget())
    assert solution.places["c"].offset_bytes == 96 or solution.places["c"].offset_bytes == 0
    assert solution.places["b"].offset_bytes == 64
    assert max(solution.places[item.name].offset_bytes + item.size_bytes for item in problem.blocks) >= 96
    assert lower_bounds(problem) == {"ram": 96}


def test_what_it_cannot_do_it_says():
    answer = Strategy().solve(ram(block("a", 64, 0, 1, fixed=128)), Budget())
    assert (answer.status, bool(answer.reason)) == ("unknown", True)
