"""Products with weights without the DSP extension: what is taken, bit for bit, and faster than plain C."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.api.kernel import Kernel
from tilewright.api.testing import Sample, layers_taken, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.instructions import tables
from tilewright_cortexm.kernels.plain_products import KERNELS
from tilewright_cortexm.work import whole_work

CORES = {"v6m": "m0plus", "v7m": "m3"}


@pytest.mark.slow
def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    taken = {"QConv": {"same", "strided and dilated", "groups", "4 bits", "2 bits"}, "QGemm": {"", "4 bits", "2 bits"}}
    assert layers_taken(KERNELS, tmp_path) == {kernel.name: taken[kernel.op] for kernel in KERNELS}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_it_is_expected_to_be_faster_than_portable_c(kernel: Kernel, layers: dict[str, Sample]) -> None:
    layer = layers["QConv_same" if kernel.op == "QConv" else "QGemm"]
    site = site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants)
    table = tables()[CORES[kernel.engine]]
    used = table.executed_by(kernel, layer_of(vocabulary()[layer.op], kernel, site).whole)
    base = table.of_portable(whole_work(layer.op, site))
    assert used and base
    assert base / used > 1
