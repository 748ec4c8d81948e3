"""What a call takes on all cores is what its slowest share takes, which need not be the largest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.ir.kernel import TileShape
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import one_step
from tilewright.tile.kernel_costs import kernel_cycles
from tilewright.tile.share import share

X, W = np.ones((40, 6), np.float32), np.ones((6, 5), np.float32)
BLOCK, IN_BLOCKS, ALONE = 4, 10.0, 100.0  # rows of a block, cycles of a row in one, and of a row that is left


@pytest.mark.parametrize(
    ("rows", "slowest"),
    [
        (8 * BLOCK, BLOCK * IN_BLOCKS),
        (7 * BLOCK + 3, 3 * ALONE),  # the eighth core has three rows, and no block
        (2 * BLOCK, BLOCK * IN_BLOCKS),
        (3, 3 * ALONE),  # one core has it all
    ],
)
def test_what_is_left_of_a_block_may_take_longest(rows: int, slowest: float) -> None:
    bound = one_step("MatMul", (X, W), CLUSTER, constants=(1,)).bound
    (layer,) = bound.layers.values()
    access, engine = layer.access, replace(CLUSTER.engines[0], cores=8)
    row = next(loop.name for loop in access.loops if loop.kind == "parallel" and loop.extent == len(X))

    def cycles(tile: TileShape) -> float:
        low, high = tile.box[row]
        whole, rest = divmod(high - low, BLOCK)
        return whole * BLOCK * IN_BLOCKS + rest * ALONE

    kernel = replace(layer.kernel, parallel=(row,), multiples={row: BLOCK}, cycles=cycles)
    extents = {loop.name: rows if loop.name == row else loop.extent for loop in access.loops}
    assert share(kernel, access, extents, 8).trips in (0, BLOCK)
    found = kernel_cycles(kernel, layer.site, access, 0.0, extents, engine)
    assert found == engine.call_cycles + slowest
    slower = replace(engine, slowdown=1.5)
    assert kernel_cycles(kernel, layer.site, access, 0.0, extents, slower) == engine.call_cycles + 1.5 * slowest


@pytest.mark.parametrize(("rows", "slowest"), [(8 * BLOCK, BLOCK), (12, 2 * 1.45), (28, 4), (30, 4)])
def test_without_a_model_of_its_own_a_kernel_in_blocks_takes_longer_for_what_is_left(rows: int, slowest: float) -> None:
    """Of 40 rows, which are ten blocks."""
    bound = one_step("MatMul", (X, W), CLUSTER, constants=(1,)).bound
    (layer,) = bound.layers.values()
    access, engine = layer.access, replace(CLUSTER.engines[0], cores=8)
    row = next(loop.name for loop in access.loops if loop.kind == "parallel" and loop.extent == len(X))
    kernel = replace(layer.kernel, parallel=(row,), multiples={}, blocks={row: BLOCK}, cycles=None)
    extents = {loop.name: rows if loop.name == row else loop.extent for loop in access.loops}
    operations = len(X) * engine.operations_per_cycle / engine.cores
    found = kernel_cycles(kernel, layer.site, access, operations, extents, engine)
    assert found == pytest.approx(engine.call_cycles + slowest)
