"""Other memories around the cluster: plans know them, and programs run with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.api.testing import site_of
from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.operators.convolution.conv import CONV
from tilewright.testing.side_by_side import SideBySide, side_by_side
from tilewright_snitch.boards import OCCAMY, wide_cycles
from tilewright_snitch.platform import SNITCH


def layer() -> SideBySide:
    """A pointwise convolution of 64 channels, which copies more than it computes."""
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in ((1, 64, 16, 16), (8, 64, 1, 1), (8,))]
    attributes = {
        "kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0,) * 4, "group": 1, "ceil_mode": 0,
    }  # fmt: skip
    return side_by_side([(site_of(CONV, inputs, attributes, (1, 2)), inputs)])


def cycles(board: str) -> float:
    tiled = layer().deployment("snitch", Options(memory_hierarchy=board, memory={"tcdm": 32 << 10})).allocated.tiled
    return sum(group.cycles for group in tiled.groups)


def test_a_wider_memory_takes_less_time() -> None:
    assert cycles("occamy") < 0.8 * cycles("")


def test_it_is_for_this_cluster() -> None:
    board = OCCAMY.on(SNITCH)
    assert [memory.name for memory in board.memories] == [memory.name for memory in SNITCH.memories]
    assert board.engines == SNITCH.engines
    with pytest.raises(TilewrightError) as refused:
        OCCAMY.on(replace(SNITCH, name="other"))
    assert refused.value.code == "TW8012"


def test_a_copy_takes_a_cycle_for_64_bytes_and_for_each_row() -> None:
    assert wide_cycles(6400, 10) - wide_cycles(3200, 10) == 50
    assert wide_cycles(6400, 20) - wide_cycles(6400, 10) == 10
    assert wide_cycles(0, 0) == 0
