"""Every kernel of the cluster that accepts one of the core's layers, as the compiled Xpulp program computes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from iss_run import run_on_iss

from tilewright.api.graph import MultiplyShift, Requant, Site
from tilewright.api.testing import Sample, every_layer, refusal, result_errors, site_of, vocabulary
from tilewright.ir.machines.kernel import Kernel
from tilewright.testing.one_step import portable_kernels
from tilewright_siracusa.kernels import KERNELS

OPERATORS = vocabulary()
CASES = [
    pytest.param(layer, kernel, id=f"{layer.name}-{kernel.name}")
    for layer in every_layer()
    for kernel in KERNELS
    if kernel.computes == layer.op
    and refusal(kernel, site_of(OPERATORS[layer.op], layer.inputs, layer.attributes, layer.constants)) is None
]


@pytest.mark.slow
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


def shifted(layer: Sample, bits: int) -> Site:
    """The layer, its sums multiplied and shifted in a register of so many bits."""
    before = layer.attributes["requant"]
    assert isinstance(before, Requant)
    channels, low = len(before.scale), -128 if before.low < 0 else 0
    numbers = tuple(77 + channel for channel in range(channels))
    rounding = MultiplyShift(multiplier=numbers, addend=(-123456,) * channels, shift=(16,), bits=bits)
    scale = tuple(number / 2**16 for number in numbers)
    requant = Requant(scale=scale, zero_point=0, low=low, high=low + 255, rounding=rounding)
    return site_of(OPERATORS[layer.op], layer.inputs, {**layer.attributes, "requant": requant}, layer.constants)


SHIFTED = [
    pytest.param(layer, kernel, bits, id=f"{layer.name}-{kernel.name}-{bits}")
    for layer in every_layer()
    for kernel in KERNELS
    for bits in (32, 64)
    if kernel.computes == layer.op in ("QConv", "QGemm", "QMatMul")
    and "multiply-shift" in kernel.roundings
    and refusal(kernel, shifted(layer, bits)) is None
]


@pytest.mark.slow
@pytest.mark.parametrize(("layer", "kernel", "bits"), SHIFTED)
def test_sums_that_are_multiplied_and_shifted(
    layer: Sample, kernel: Kernel, bits: int, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site = shifted(layer, bits)
    found = run_on_iss(OPERATORS[layer.op], kernel, site, layer.inputs, tmp_path)
    assert result_errors(OPERATORS[layer.op], site, layer.inputs, found.outputs) == []
