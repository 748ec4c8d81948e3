"""Depthwise convolutions without the DSP extension: what is taken, bit for bit, and what is not written out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.graph import Attribute, DType, Requant, channels_last
from tilewright.api.testing import STRICT, UBSAN, byte_array, layers_taken, refusal, run_kernel, site_of, vocabulary
from tilewright_cortexm.kernels.plain_depthwise import KERNELS

Array = npt.NDArray[np.generic]


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {kernel.name: {"depthwise"} for kernel in KERNELS}


@pytest.mark.parametrize("rows", [1, 3])
def test_windows_of_one_column_pass_strict_compilers(tmp_path: Path, rows: int) -> None:
    rng = np.random.default_rng(rows)
    shapes = ((1, 2, 4, 4), (2, 1, rows, 1))
    inputs: list[Array | None] = [byte_array(rng, DType.I8, shape, saturated=False) for shape in shapes]
    requant = Requant(scale=(0.013,), zero_point=2, low=-128, high=127)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (rows, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0,
        "group": 2, "requant": requant, "output_type": "i8", "x_zero_point": 0, "w_zero_point": (0,), "pad_value": 0,
    }  # fmt: skip
    operator = vocabulary()["QConv"]
    site = site_of(operator, inputs, attributes, (1,))
    layouts = dict.fromkeys(("X", "Y"), channels_last(4))
    for kernel in KERNELS:
        assert refusal(kernel, site) is None
        (result,) = run_kernel(
            operator, kernel, site, inputs, folder=tmp_path, layouts=layouts, flags=(*UBSAN, *STRICT)
        )
        np.testing.assert_array_equal(result, operator.reference(site, inputs)[0])


def test_windows_of_many_columns_are_portable_c() -> None:
    rng = np.random.default_rng(0)
    inputs = [byte_array(rng, DType.I8, shape, saturated=False) for shape in ((1, 4, 3, 20), (4, 1, 3, 9))]
    requant = Requant(scale=(0.01,), zero_point=0, low=-128, high=127)
    attributes = {
        "kernel_shape": (3, 9), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0,
        "group": 4, "requant": requant, "output_type": "i8",
    }  # fmt: skip
    site = site_of(vocabulary()["QConv"], inputs, attributes, (1,))
    assert {kernel.match(site) for kernel in KERNELS} == {"windows have 9 columns; up to 7 are written out"}
