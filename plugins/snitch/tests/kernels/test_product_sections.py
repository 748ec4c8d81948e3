"""The C of products by streams: one name for each kind, and what limits mean in it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tilewright.api.testing import site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.operators.products.gemm import GEMM
from tilewright_snitch.kernels.product_sections import CLIP, PRODUCTS, RESULTS, products_values

LIMITS: dict[str, dict[str, Attribute]] = {
    "none": {}, "low": {"clip_low": 0.0}, "both": {"clip_low": 0.0, "clip_high": 6.0}
}  # fmt: skip


def layer(clip: str = "none", real: type[np.floating] = np.float32) -> Site:
    inputs = [np.ones((2, 8), real), np.ones((8, 4), real), None]
    return site_of(GEMM, inputs, {"alpha": 1.0, "beta": 1.0, **LIMITS[clip]}, (1,))


@pytest.mark.parametrize("clip", LIMITS)
def test_limits_are_those_of_the_layer_or_others(clip: str) -> None:
    assert products_values(layer(clip), bias=False, dense=True)["clip"] == clip
    assert products_values(layer(clip), bias=False, dense=True, clip="none")["clip"] == "none"


def test_every_kind_has_a_name_of_its_own() -> None:
    names = {
        products_values(layer(clip, real), bias=bias, dense=dense, deep=deep)["name"]
        for clip, real, bias, dense, deep in product(LIMITS, (np.float32, np.float64), *[(False, True)] * 3)
    }
    assert len(names) == 3 * 2 * 2**3


def test_sections_define_what_they_are_named_after() -> None:
    assert (CLIP.name, RESULTS.name) == ("tw_sn_${type}_${clip}", "tw_sn_${type}_${clip}_row")
    assert CLIP in PRODUCTS.needs and CLIP in RESULTS.needs
