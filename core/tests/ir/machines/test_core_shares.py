"""How cores share a tile: every trip has its core, and an uneven loop is left for a better one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.machines.core_shares import ALONE, ANY, Share, blocked_extent, parallel_loops, share
from tilewright.ir.machines.kernel import Kernel
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import one_step

X, W = np.ones((4, 6), np.float32), np.ones((6, 5), np.float32)


def matmul(**changes: object) -> tuple[Kernel, MapAccess]:
    bound = one_step("MatMul", (X, W), CLUSTER, constants=(1,)).bound
    (layer,) = bound.layers.values()
    access = layer.access
    assert isinstance(access, MapAccess)
    return replace(layer.kernel, multiples={}, **changes), access


def test_loops_are_in_the_order_that_the_kernel_names() -> None:
    kernel, access = matmul(parallel=(ANY,))
    every = [loop.name for loop in access.loops if loop.kind == "parallel"]
    assert list(parallel_loops(kernel, access)) == every
    last = every[-1]
    assert parallel_loops(replace(kernel, parallel=(last, ANY)), access)[0] == last
    reduced = next(loop.name for loop in access.loops if loop.kind == "reduce")
    assert parallel_loops(replace(kernel, parallel=(reduced, "moon")), access) == ()
    assert parallel_loops(replace(kernel, parallel=()), access) == ()


@pytest.mark.parametrize(
    ("first", "second", "cores", "grain", "chosen"),
    [
        (16, 16, 8, 1, ("first", 2)),
        (9, 16, 8, 1, ("second", 2)),  # 2 of 9 trips are more than a tenth more than 2 of 16
        (8, 1, 8, 1, ("first", 1)),
        (1, 1, 8, 1, ("", 0)),
        (16, 16, 1, 1, ("", 0)),
        (6, 1, 4, 4, ("first", 4)),
        (3, 1, 4, 4, ("", 0)),  # one core would have it all
    ],
)
def test_the_share(first: int, second: int, cores: int, grain: int, chosen: tuple[str, int]) -> None:
    kernel, access = matmul(parallel=(ANY,))
    one, other, *rest = (loop.name for loop in access.loops if loop.kind == "parallel")
    kernel = replace(kernel, multiples={one: grain})
    extents = {one: first, other: second, **dict.fromkeys(rest, 1)}
    names = {"first": one, "second": other, "": ""}
    found = share(kernel, access, extents, cores)
    assert (found.loop, found.extent) == (names[chosen[0]], chosen[1])
    assert found == ALONE or found.grain == grain
    assert found == ALONE or found.extent * cores >= extents[found.loop]


@pytest.mark.parametrize(
    ("first", "second", "chosen"),
    [
        (16, 16, ("second", 2, 1)),  # two of a block of four take as long as three inside one
        (16, 1, ("first", 2, 1)),  # and are less than four
        (24, 1, ("first", 4, 4)),  # four are less than three by themselves
        (32, 32, ("first", 4, 1)),
        (2, 16, ("second", 2, 1)),
    ],
)
def test_cores_share_whole_blocks_where_that_is_faster(first: int, second: int, chosen: tuple[str, int, int]) -> None:
    kernel, access = matmul(parallel=(ANY,))
    one, other, *rest = (loop.name for loop in access.loops if loop.kind == "parallel")
    extents = {one: first, other: second, **dict.fromkeys(rest, 1)}
    found = share(replace(kernel, blocks={one: 4}), access, extents, 8)
    assert found == Share(loop={"first": one, "second": other}[chosen[0]], extent=chosen[1], grain=chosen[2])


def test_what_is_left_of_a_block_counts_as_more_trips() -> None:
    assert [blocked_extent(extent, 4) for extent in (4, 5, 8)] == pytest.approx([4, 5.45, 8])
    assert blocked_extent(5, 1) == 5
