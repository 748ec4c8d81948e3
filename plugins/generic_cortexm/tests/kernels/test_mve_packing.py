"""Weights for Helium: sixteen values of each channel in turn, or of each pair of channels, then what is left."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.testing import every_layer, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.kernels.mve_packing import LANES
from tilewright_cortexm.kernels.mve_products import KERNELS


@pytest.mark.parametrize(("name", "nibbles"), [("QConv_4_bits", True), ("QGemm_4_bits", True), ("QGemm", False)])
def test_every_weight_is_where_the_blocks_read_it(name: str, nibbles: bool) -> None:
    sample = next(layer for layer in every_layer() if layer.name == name)
    site = site_of(vocabulary()[sample.op], sample.inputs, sample.attributes, sample.constants)
    kernel = next(one for one in KERNELS if one.op == sample.op and (one.weight_bits == (4,)) == nibbles)
    layer = layer_of(vocabulary()[sample.op], kernel, site)
    weights = layer.site.analysis.weights.reshape(len(layer.site.analysis.weights), -1)
    channels, length = weights.shape
    stored, at = layer.packed["W"].astype(np.int64), 0
    for first in range(0, channels, 4):
        block = weights[first : first + 4]
        pairs = -(-len(block) // 2) if nibbles else len(block)
        for step in range(0, length, LANES):
            count = min(LANES, length - step)
            for lane in range(pairs):
                byte = stored[at : at + count]
                at += count
                if not nibbles:
                    assert np.array_equal(byte, block[lane, step : step + count])
                    continue
                upper = min(2 * lane + 1, len(block) - 1)
                assert np.array_equal(byte >> 4, block[upper, step : step + count])
                if upper == 2 * lane + 1:
                    assert np.array_equal((byte & 15) - 8, block[2 * lane, step : step + count])
    assert at == len(stored)
