"""The cost of a tiling played alone: what is copied is paid, more tiles cost more, a cut reduction has sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from layer_programs import layer_space
from space_costs import space_chain, space_cost, space_region
from tilewright.ir.plans.region import Copy, Cut, Hop
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.operator_sites import Sample

LAYER = Sample(op="MatMul", inputs=(np.ones((16, 40), np.float32), np.ones((40, 12), np.float32)))
SPACE = layer_space(LAYER, CLUSTER, split=True)
PARALLEL, *_ = (loop.name for loop in SPACE.access.loops if loop.kind == "parallel")
(REDUCED,) = (loop.name for loop in SPACE.access.loops if loop.kind == "reduce")


def hop(**sizes: int) -> Hop:
    """Its loops cut into these sizes, every operand copied for every tile into one buffer."""
    nest = tuple(Cut(loop=loop, size=size) for loop, size in sizes.items())
    copies = {f"{SPACE.site.node.name}.{item.name}": Copy(level=len(nest)) for item in SPACE.copied}
    return Hop(outer="l2", inner="l1", nest=nest, copies=copies)


def test_operands_of_the_chain_are_those_that_are_copied() -> None:
    (member,) = space_chain(SPACE, hop()).members
    assert {item.name for item in member.operands} == {item.name for item in SPACE.copied} == {"A", "B", "Y"}
    assert [item.name for item in member.operands if item.written] == [member.output.name] == ["Y"]


def test_a_reduction_that_is_cut_has_sums_and_nothing_else_has() -> None:
    assert not space_region(SPACE, hop(**{PARALLEL: 4})).sums
    assert not space_region(replace(SPACE, sums=None), hop(**{PARALLEL: 4, REDUCED: 8})).sums
    (split,) = space_region(SPACE, hop(**{PARALLEL: 4, REDUCED: 8})).sums.values()
    assert split.loops == (REDUCED,)


def test_every_byte_is_paid_and_more_tiles_are_not_cheaper() -> None:
    once, often = space_cost(SPACE, hop()), space_cost(SPACE, hop(**{PARALLEL: 2}))
    assert (once.tiles, once.in_bytes, once.out_bytes) == (1, (16 * 40 + 40 * 12) * 4, 16 * 12 * 4)
    assert once.bound_bytes == once.in_bytes + once.out_bytes == often.bound_bytes
    assert often.out_bytes == once.out_bytes and often.in_bytes > once.in_bytes  # one matrix for every tile
    assert often.total_cycles > once.total_cycles > once.compute_cycles > 0
    assert often.scratchpad_bytes < once.scratchpad_bytes
