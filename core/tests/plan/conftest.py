"""Networks that are planned for one memory with portable kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.ir.plans.stages import Allocated
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.proposals.planner import Optimize, Planner
from tilewright.plan.suggestions import with_memories
from tilewright.testing.one_step import vocabulary

Planned = Callable[..., Allocated]
SEED = 0  # layers 4,860 B or so, by rows much less


@pytest.fixture(scope="session")
def fastest() -> Planner:
    """With portable kernels."""
    return portable_planner()


@pytest.fixture(scope="session")
def planned(fastest: Planner) -> Planned:
    """A network's plan: how it is wanted, in how many bytes, of which network, how often its products may be done."""

    @cache
    def made(
        optimize: Optimize = "speed", limit: int | None = None, *, seed: int = SEED, recompute: float = 1.0
    ) -> Allocated:
        planner = replace(fastest, optimize=optimize, recompute=recompute)
        bound = planner.bind(row_network(seed, vocabulary()).graph, ONE_MEMORY)
        return Fitting(planner=planner).plan(with_memories(bound, {"ram": limit}) if limit else bound)

    return made
