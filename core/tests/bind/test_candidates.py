"""Candidates are ordered by what they cost: a kernel's own model, what the platform measured, or throughput."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.bind.candidates import choices
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Engine, Memory, Platform
from tilewright.ir.plans.layer import Layers, layer_key
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of

PLATFORM = Platform(
    name="small",
    memories=(Memory(name="ram", size_bytes=None),),
    engines=(Engine(name="cpu", operations_per_cycle=0.5),),
)
SITE = site_of(vocabulary()["Add"], [np.zeros((3, 4), np.float32), np.zeros((3, 4), np.float32)])
PORTABLE = Kernel(name="portable", op="Add")
FAST = Kernel(name="fast", op="Add", target="small", cycles=lambda tile: 20.0)
UNPRICED = Kernel(name="unpriced", op="Add", target="small")


def found(platform: Platform, *kernels: Kernel) -> list[tuple[str, float]]:
    layers = Layers(operators=vocabulary())
    candidates = choices(SITE, layer_key(SITE), kernels, platform, layers).candidates
    return [(item.kernel.name, item.cycles) for item in candidates]


def test_throughput_where_nothing_is_known() -> None:
    assert found(PLATFORM, PORTABLE, FAST) == [("fast", 20.0), ("portable", 24.0)]


@pytest.mark.parametrize(
    ("measured", "order"),
    [
        (lambda site: 7.0, [("portable", 7.0), ("fast", 20.0), ("unpriced", 24.0)]),
        (lambda site: 700.0, [("fast", 20.0), ("unpriced", 24.0), ("portable", 700.0)]),
        (lambda site: None, [("fast", 20.0), ("unpriced", 24.0), ("portable", 24.0)]),
    ],
)
def test_what_a_platform_measured_of_portable_c(
    measured: Callable[[Site], float | None], order: list[tuple[str, float]]
) -> None:
    assert found(replace(PLATFORM, portable_cycles=measured), PORTABLE, FAST, UNPRICED) == order


@pytest.mark.parametrize("cycles", ["many", float("nan"), -1.0])
def test_a_cost_that_cannot_be_compared_names_its_kernel(cycles: Any) -> None:
    with pytest.raises(TilewrightError, match=r"kernel 'fast': cycles must return a number of cycles, 0 or more"):
        found(PLATFORM, PORTABLE, replace(FAST, cycles=lambda tile: cycles))


def test_what_a_preferred_engine_runs_comes_first_and_cycles_are_of_all_cores() -> None:
    slow = replace(FAST, name="on_npu", engine="npu", cycles=lambda tile: 7.0)
    quick = replace(FAST, name="on_cores", cycles=lambda tile: 8.0)
    shared = replace(PLATFORM, engines=(Engine(name="cpu", cores=4), Engine(name="npu")))
    assert [name for name, _ in found(shared, slow, quick)] == ["on_cores", "on_npu"]
    preferred = replace(shared, engines=(shared.engines[0], Engine(name="npu", preferred=True)))
    assert [name for name, _ in found(preferred, slow, quick)] == ["on_npu", "on_cores"]
