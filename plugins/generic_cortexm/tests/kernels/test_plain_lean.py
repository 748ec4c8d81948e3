"""Products with weights without the DSP extension and without scratch: what is taken, bit for bit, and when."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.api.kernel import Kernel
from tilewright.api.testing import Sample, layers_taken, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.instructions import tables
from tilewright_cortexm.kernels import plain_products
from tilewright_cortexm.kernels.plain_lean import KERNELS

CORES = {"v6m": "m0plus", "v7m": "m3"}


@pytest.mark.slow
def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    taken = {"QConv": {"same", "strided and dilated", "groups", "4 bits", "2 bits"}, "QGemm": {"", "4 bits", "2 bits"}}
    assert layers_taken(KERNELS, tmp_path) == {kernel.name: taken[kernel.op] for kernel in KERNELS}


@pytest.mark.parametrize("engine", sorted(CORES))
def test_where_many_pixels_share_weights_it_is_the_slower_one(engine: str, layers: dict[str, Sample]) -> None:
    """It needs no scratch, and is the faster one for a row."""
    lean, plain = (
        {kernel.op: kernel for kernel in kernels if kernel.engine == engine}
        for kernels in (KERNELS, plain_products.KERNELS)
    )
    row = replace(layers["QGemm"], inputs=(layers["QGemm"].inputs[0][:1], *layers["QGemm"].inputs[1:]))
    assert cycles(plain["QConv"], layers["QConv_same"]) < cycles(lean["QConv"], layers["QConv_same"])
    assert cycles(plain["QGemm"], row) > cycles(lean["QGemm"], row)


def cycles(kernel: Kernel, layer: Sample) -> float:
    site = site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants)
    tile = layer_of(vocabulary()[layer.op], kernel, site).whole
    assert (kernel.scratch_bytes(tile) == 0) == (kernel in KERNELS)
    table = tables()[CORES[kernel.engine]]
    instructions = table.executed_by(kernel, tile)
    assert instructions is not None
    return instructions * table.cycles_of(kernel)
