"""What a call takes on all cores is what its slowest share takes, which need not be the largest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.machines.core_shares import share
from tilewright.ir.machines.kernel import Finish, Kernel, TileShape
from tilewright.ir.plans.layer import layer_of
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import one_step, vocabulary
from tilewright.testing.operator_sites import site_of
from tilewright.tile.cost.kernel_costs import (
    TileCallCosts,
    finish_cycles,
    kernel_cycles,
    scratch_bytes,
    tile_cycles,
    with_finish,
)
from tilewright.tile.space.tiling_space import TilingSpace

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
    assert share(kernel, access, extents, 8).extent in (0, BLOCK)
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


def test_equal_shares_are_priced_once(sum_in: Callable[[int], TilingSpace]) -> None:
    """Tiles of 1 to 6 rows and 1 to 8 columns, the rows on four cores: shares of one or two rows, or one row left."""
    asked: list[tuple[int, ...]] = []

    def cycles(tile: TileShape) -> float:
        rows, columns = (high - low for low, high in (tile.box["_lead1"], tile.box["_lead0"]))
        asked.append((rows, columns))
        return 10.0 * rows + columns + 5 * (rows == 1)

    space = sum_in(1 << 12)
    kernel = replace(space.kernel, cycles=cycles, parallel=("_lead1",))
    space = replace(space, kernel=kernel, engine=replace(space.engine, cores=4))
    tiles = [{"_lead1": rows, "_lead0": columns} for rows, columns in product(range(1, 7), range(1, 9))]
    alone = [tile_cycles(space, tile) for tile in tiles]
    assert len(asked) > len(tiles)
    asked.clear()
    costs = TileCallCosts(space)
    assert [costs.of(tile) for tile in tiles] == alone
    assert sorted(asked) == [(rows, columns) for rows in (1, 2) for columns in range(1, 9)]
    assert costs.of({"_lead0": 3}) == tile_cycles(space, {"_lead1": 6, "_lead0": 3})


def test_an_engine_may_know_portable_c_of_a_part_of_a_tile() -> None:
    """Five of 40 rows for each of eight cores; another's kernel, or another operator, is not asked about."""
    bound = one_step("MatMul", (X, W), CLUSTER, constants=(1,)).bound
    (layer,) = bound.layers.values()
    access = layer.access
    row = next(loop.name for loop in access.loops if loop.kind == "parallel" and loop.extent == len(X))

    def known(op: str, tile: TileShape) -> float | None:
        return 7.0 + tile.box[row][1] if op == "MatMul" else None

    engine = replace(CLUSTER.engines[0], cores=8, portable_cycles=known, slowdown=2.0)
    plain = replace(layer.kernel, target="*", parallel=(row,), multiples={}, blocks={}, cycles=None)
    extents = {loop.name: loop.extent for loop in access.loops}
    assert kernel_cycles(plain, layer.site, access, 0.0, extents, engine) == engine.call_cycles + 2 * (7 + 5)
    for other in (replace(plain, target=CLUSTER.name), replace(plain, op="Other")):
        assert kernel_cycles(other, layer.site, access, 0.0, extents, engine) == engine.call_cycles


@pytest.mark.parametrize("wrong", [-4, 4.5, None, "64"])
def test_scratch_is_a_number_of_bytes(wrong: Any) -> None:
    site = site_of(vocabulary()["MatMul"], [X, W])
    layer = layer_of(vocabulary()["MatMul"], Kernel(name="acme", op="MatMul", scratch_bytes=lambda tile: wrong), site)
    extents = {loop.name: loop.extent for loop in layer.access.loops}
    with pytest.raises(TilewrightError, match=r"kernel 'acme': scratch_bytes must return a whole number of bytes"):
        scratch_bytes(layer.kernel, layer.site, layer.access, extents, 1)


@pytest.mark.parametrize("multiple", [1, 2, 3])
@pytest.mark.parametrize("most", [1, 7, 16, 17, 33, 40])
def test_scratch_is_enough_for_smaller_tiles_that_more_cores_share(most: int, multiple: int) -> None:
    """Of 17 rows a core takes three, and there are six; of 16 two, and there are eight."""
    (layer,) = one_step("MatMul", (X, W), CLUSTER, constants=(1,)).bound.layers.values()
    access = layer.access
    row = next(loop.name for loop in access.loops if loop.kind == "parallel" and loop.extent == len(X))
    changes = {"parallel": (row,), "multiples": {row: multiple}, "blocks": {}, "scratch_bytes": lambda tile: 64}
    kernel = replace(layer.kernel, **changes)
    whole = {loop.name: loop.extent for loop in access.loops} | {row: most}

    def shares(rows: int) -> int:
        split = share(kernel, access, {**whole, row: rows}, 8)
        return -(-rows // split.extent) if split.loop else 1

    one, exactly = scratch_bytes(kernel, layer.site, access, whole, 8)
    assert (one, exactly) == (64, 64 * shares(most))
    _, enough = scratch_bytes(kernel, layer.site, access, whole, 8, (row,))
    assert enough == 64 * max(shares(rows) for rows in range(1, most + 1))


def test_what_cores_finish_of_a_job_is_done_beside_the_next_where_there_is_a_queue() -> None:
    (layer,) = one_step("MatMul", (X, W), CLUSTER, constants=(1,)).bound.layers.values()
    access = layer.access
    row = next(loop.name for loop in access.loops if loop.kind == "parallel" and loop.extent == len(X))
    finish = Finish(call="", parallel=(row,), cycles=lambda tile: 3.0 * tile.extent(row))
    engine = replace(CLUSTER.engines[0], cores=1, finishing_cores=8, queue=2, call_cycles=10.0)
    extents = {loop.name: loop.extent for loop in access.loops}
    kernel = replace(layer.kernel, finish=finish)
    assert finish_cycles(kernel, layer.site, access, extents, engine) == 10 + 3 * len(X) / 8
    assert finish_cycles(layer.kernel, layer.site, access, extents, engine) == 0.0
    assert with_finish(100.0, 25.0, engine) == 100.0
    assert with_finish(100.0, 25.0, replace(engine, queue=1)) == 125.0
