"""Weights of a block in each form take the words that the kernel's access says they do."""

from __future__ import annotations

import pytest

from tilewright.api.testing import every_layer, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.kernels.dsp_blocks import fours_of
from tilewright_cortexm.kernels.dsp_packing import words_of_four
from tilewright_cortexm.kernels.dsp_products import KERNELS


@pytest.mark.parametrize(("name", "each"), [("QConv_4_bits", 9), ("QGemm_4_bits", 27), ("QConv_groups", 6)])
def test_words_of_nibbles_are_half_as_many(name: str, each: int) -> None:
    sample = next(layer for layer in every_layer() if layer.name == name)
    site = site_of(vocabulary()[sample.op], sample.inputs, sample.attributes, sample.constants)
    kernels = [one for one in KERNELS if one.op == sample.op and (one.weight_bits == (4,)) == ("4_bits" in name)]
    layer = layer_of(vocabulary()[sample.op], kernels[0], site)
    analysis = layer.site.analysis
    rows = analysis.rows
    assert words_of_four(analysis) == each
    assert layer.packed["W"].size == rows.groups * each * rows.runs * fours_of(rows)
