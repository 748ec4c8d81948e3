"""Portable pools of bytes, of a core's part of a tile: what the simulated core takes, few channels or many."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from snitch_run import run_on_iss
from timing import GVSOC_FAR

from tilewright.api.graph import Attribute
from tilewright.api.testing import site_of
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.requant import Requant
from tilewright.operators.pooling import pool
from tilewright.plugins import load_for
from tilewright.testing.one_step import vocabulary
from tilewright_snitch.pools import pool_cycles, taps_inside

KERNELS = load_for(target="snitch").kernels
X = np.random.default_rng(5).integers(-100, 100, (1, 16, 12, 14)).astype(np.int8)


def window(side: int, stride: int, pad: int) -> dict[str, Attribute]:
    return {
        "kernel_shape": (side, side), "strides": (stride, stride), "dilations": (1, 1), "pads": (pad,) * 4,
        "ceil_mode": 0,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "box", [{"c": (0, 1)}, {"c": (0, 4)}, {"c": (0, 8)}, {"h": (0, 2)}], ids=["1", "4", "8", "rows"]
)
@pytest.mark.parametrize(("side", "stride", "pad"), [(2, 2, 0), (3, 1, 0), (3, 2, 1), (5, 1, 2)])
@pytest.mark.parametrize("op", ["MaxPool", "QAveragePool"])
def test_pools_of_bytes(
    op: str,
    side: int,
    stride: int,
    pad: int,
    box: dict[str, tuple[int, int]],
    tmp_path: Path,
    tool: Callable[[str], str],
) -> None:
    """Shapes of which some were not measured."""
    tool("riscv64-unknown-elf-gcc")
    attributes = window(side, stride, pad)
    if op == "QAveragePool":
        scale = tuple(0.9 / count for count in range(1, side * side + 1)) if pad else (0.9 / side**2,)
        requant = Requant(scale=scale, zero_point=1, low=-128, high=127)
        attributes |= {"x_zero_point": -4, "count_include_pad": 0, "requant": requant}
    operator = vocabulary()[op]
    kernel = KERNELS["portable.max_pool" if op == "MaxPool" else "portable.qaverage_pool"]
    site = site_of(operator, [X], attributes)
    layer = layer_of(operator, kernel, site)
    took = run_on_iss(operator, kernel, site, [X], tmp_path, box, timing=GVSOC_FAR, opaque=True).cycles
    assert pool_cycles(op, layer.tile({**layer.whole.box, **box})) == pytest.approx(took, rel=0.45)


def test_few_channels_take_longer_each() -> None:
    site = site_of(pool.MAX_POOL, [X], window(2, 2, 0))
    layer = layer_of(pool.MAX_POOL, KERNELS["portable.max_pool"], site)
    one, eight = (pool_cycles("MaxPool", layer.tile({**layer.whole.box, "c": (0, c)})) or 0 for c in (1, 8))
    assert one > 1.4 * eight / 8


def test_what_is_no_pool_of_bytes() -> None:
    site = site_of(pool.MAX_POOL, [X.astype(np.float32)], window(2, 2, 0))
    layer = layer_of(pool.MAX_POOL, KERNELS["portable.max_pool"], site)
    assert pool_cycles("MaxPool", layer.whole) is None
    assert pool_cycles("Add", layer.whole) is None


def test_padding_is_no_tap() -> None:
    assert taps_inside(site_of(pool.MAX_POOL, [X], window(2, 2, 0))) == 4
    rows, columns = 3 - 1 / 6, 3 - 1 / 7  # the first of six and of seven windows begins outside
    assert taps_inside(site_of(pool.MAX_POOL, [X], window(3, 2, 1))) == pytest.approx(rows * columns)
