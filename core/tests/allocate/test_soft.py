"""Soft limits: kept where they can be, exceeded as little as it takes where not, and never silently."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from tilewright.allocate import allocate
from tilewright.allocate.allocate import attempt
from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.limits import exceeded_bytes, memory_bytes, raised_limits, soft_limit_warnings
from tilewright.allocate.request import request
from tilewright.bind import bind
from tilewright.check.stages import verify_allocated
from tilewright.errors import TilewrightError
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Tiled
from tilewright.schedule import schedule
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

WORLD = small_world()
BUDGET = Budget(work=2000)


def _tiled(seed: int, *memories: Memory) -> Tiled:
    platform = Platform(name="small", memories=memories)
    graph = random_graph(random.Random(seed), WORLD.operators)
    bound = bind(graph, platform, WORLD.operators, WORLD.kernels, Decisions())
    bound = replace(bound, constants={"w": np.ones(40, np.int8), "v": np.ones(24, np.int8)})
    return tile(schedule(bound, WORLD.operators, Decisions()), WORLD.operators, WholeTiler(), Decisions())


def _plan(seed: int, *memories: Memory) -> Allocated:
    return verify_allocated(allocate(_tiled(seed, *memories), Decisions(), BestFit(), BUDGET), WORLD.operators)


@pytest.mark.parametrize("seed", range(12))
def test_a_soft_pool_is_exceeded_only_where_a_hard_one_would_not_do(seed: int) -> None:
    needed = _plan(seed, Memory(name="a", size_bytes=None)).pools[0].used_bytes
    for share in (1.0, 0.6, 0.3):
        soft = Memory(name="a", size_bytes=int(needed * share), soft=True)
        other = Memory(name="b", size_bytes=needed // 4)
        plan = _plan(seed, soft, other)
        fits = isinstance(
            attempt(_tiled(seed, replace(soft, soft=False), other), Decisions(), BestFit(), BUDGET), Allocated
        )
        assert (exceeded_bytes(plan, "a") == 0) == fits
        assert memory_bytes(plan, "b") <= needed // 4
        assert [warning.code for warning in soft_limit_warnings(plan)] == ([] if fits else ["TW5031"])
        pool = next(pool for pool in plan.pools if pool.memory == "a")
        assert (pool.soft, pool.limit_bytes) == (True, soft.size_bytes)


def test_the_excess_is_small() -> None:
    """With one pool it is what the plan needs; a second pool takes what it can before."""
    needed = _plan(3, Memory(name="a", size_bytes=None)).pools[0].used_bytes
    alone = _plan(3, Memory(name="a", size_bytes=16, soft=True))
    assert exceeded_bytes(alone, "a") == needed - 16
    both = _plan(3, Memory(name="a", size_bytes=16, soft=True), Memory(name="b", size_bytes=needed // 2))
    assert exceeded_bytes(both, "a") < exceeded_bytes(alone, "a")


def test_constants_may_exceed_a_soft_pool_of_constants() -> None:
    flash = Memory(name="flash", size_bytes=60, kind="const", soft=True)
    plan = _plan(1, Memory(name="a", size_bytes=None), flash)
    assert exceeded_bytes(plan, "flash") == 20  # the header, and 64 bytes
    (warning,) = soft_limit_warnings(plan)
    assert "needs 80 B, its limit is 60 B (20 B more)" in warning.message


def test_a_hard_limit_beside_a_soft_one_stays_hard() -> None:
    flash = Memory(name="flash", size_bytes=60, kind="const")
    with pytest.raises(TilewrightError, match="TW5001"):
        _plan(1, Memory(name="a", size_bytes=8, soft=True), flash)
    huge = Memory(name="a", size_bytes=None, soft=True)
    assert soft_limit_warnings(_plan(1, huge)) == ()


def test_constants_that_fit_no_hard_limit_raise_no_soft_one() -> None:
    """Whatever is given to the soft memory, the constants stay without a place: nothing is tried."""
    flash = Memory(name="flash", size_bytes=60, kind="const")
    ram = Memory(name="a", size_bytes=8, soft=True)
    platform = Platform(name="small", memories=(ram, flash))
    asked = request(_tiled(1, ram, flash), Decisions())
    assert raised_limits(asked, platform, BestFit(), BUDGET) is None
    larger = replace(flash, size_bytes=80)
    enough = request(_tiled(1, ram, larger), Decisions())
    assert raised_limits(enough, replace(platform, memories=(ram, larger)), BestFit(), BUDGET) is not None
