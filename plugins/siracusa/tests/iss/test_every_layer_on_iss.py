"""Every kernel of the cluster that accepts one of the core's layers, as the compiled Xpulp program computes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from iss_run import run_on_iss

from tilewright.api.testing import Sample, every_layer, refusal, result_errors, site_of, vocabulary
from tilewright.ir.machines.kernel import Kernel
from tilewright.testing.one_step import portable_kernels
from tilewright_siracusa.kernels import KERNELS

OPERATORS = vocabulary()
CASES = [
    pytest.param(layer, kernel, id=f"{layer.name}-{kernel.name}")
    for layer in every_layer()
    for kernel in KERNELS
    if kernel.op == layer.op
    and refusal(kernel, site_of(OPERATORS[layer.op], layer.inputs, layer.attributes, layer.constants)) is None
]


@pytest.mark.parametrize(("layer", "kernel"), CASES)
def test_as_the_reference_computes_it(
    layer: Sample, kernel: Kernel, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    operator = OPERATORS[layer.op]
    site = site_of(operator, layer.inputs, layer.attributes, layer.constants)
    found = run_on_iss(operator, kernel, site, layer.inputs, tmp_path)
    assert result_errors(operator, site, layer.inputs, found.outputs) == []


def test_there_are_layers_for_most_kernels() -> None:
    assert len({case.values[1].name for case in CASES}) > 25


def test_a_tile_knows_the_shape_of_the_whole_tensor(tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Where Pad reads depends on it."""
    tool("riscv64-unknown-elf-gcc")
    x = np.arange(40, dtype=np.int8).reshape(4, 10)
    operator, kernel = OPERATORS["Pad"], portable_kernels()["portable.pad"]
    site = site_of(operator, [x], {"mode": "edge", "pads": (1, 1, 1, 1)})
    found = run_on_iss(operator, kernel, site, [x], tmp_path, {"a1": (5, 9)})
    np.testing.assert_array_equal(found.outputs[0], operator.reference(site, [x])[0][:, 5:9])
