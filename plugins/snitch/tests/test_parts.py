"""Which model says what a part takes: the one of its operator, or none."""

from __future__ import annotations

import numpy as np

from tilewright.api.testing import site_of
from tilewright.ir.plans.layer import layer_of
from tilewright.plugins import load_for
from tilewright.testing.one_step import vocabulary
from tilewright_snitch.parts import part_cycles
from tilewright_snitch.plain_products import product_cycles
from tilewright_snitch.platform import SNITCH

KERNELS = load_for(target="snitch").kernels


def test_each_operator_has_one_model() -> None:
    matmul = vocabulary()["MatMul"]
    site = site_of(matmul, [np.zeros((4, 9), np.float32), np.zeros((9, 6), np.float32)], {})
    whole = layer_of(matmul, KERNELS["portable.matmul_f32"], site).whole
    assert part_cycles("MatMul", whole) == product_cycles("MatMul", whole)
    add = vocabulary()["Add"]
    sums = layer_of(add, KERNELS["portable.add"], site_of(add, [np.zeros((4, 9), np.float32)] * 2, {})).whole
    assert part_cycles("Add", sums) is None


def test_the_target_asks_for_it() -> None:
    (engine,) = SNITCH.engines
    assert engine.portable_cycles is part_cycles
