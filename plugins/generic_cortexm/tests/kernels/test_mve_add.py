"""Helium's addition, in its C form: equal to the reference, bit for bit; what it cannot do is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.dtypes import DType
from tilewright.graph import Attribute, Site
from tilewright.operators.qelementwise import QADD
from tilewright.testing.integer_values import byte_array
from tilewright.testing.kernel_run import STRICT, run_kernel
from tilewright.testing.operator_sites import site_of
from tilewright_cortexm.kernels.mve_add import KERNELS

Array = npt.NDArray[np.generic]
KERNEL = KERNELS[0]
UBSAN = (*STRICT, "-fsanitize=undefined", "-fno-sanitize-recover=all")


def site_for(inputs: list[Array | None], y_type: DType, a_scale: float, b_scale: float, **more: Attribute) -> Site:
    low, high = y_type.limits
    attributes: dict[str, Attribute] = {
        "a_scale": float(np.float32(a_scale)), "b_scale": float(np.float32(b_scale)), "a_zero_point": 3,
        "b_zero_point": -7, "zero_point": low + 5, "low": low, "high": high, "output_type": y_type.value,
    }  # fmt: skip
    return site_of(QADD, inputs, {**attributes, **more})


@pytest.mark.parametrize("y_type", [DType.I8, DType.U8])
@pytest.mark.parametrize("types", [(DType.I8, DType.I8), (DType.U8, DType.I8)])
def test_equal_to_the_reference(types: tuple[DType, DType], y_type: DType, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    compared = 0
    for a_scale, b_scale in ((0.7732463, 2.045217), (0.31, -0.9), (0.01, 0.02)):
        shape = (1, int(rng.integers(1, 20)), 5, 7)
        inputs: list[Array | None] = [byte_array(rng, dtype, shape, False) for dtype in types]
        site = site_for(inputs, y_type, a_scale, b_scale)
        if KERNEL.accepts(site):
            continue
        layouts = KERNEL.requires(site)
        (found,) = run_kernel(QADD, KERNEL, site, inputs, folder=tmp_path, layouts=layouts, flags=UBSAN)
        assert np.array_equal(found, QADD.reference(site, inputs)[0])
        compared += 1
    assert compared


def test_refusals_say_why() -> None:
    x = np.zeros((1, 4, 2, 2), np.int8)
    assert KERNEL.accepts(site_for([x, x], DType.I8, 0.7732463, 2.045217)) is None
    assert KERNEL.accepts(site_for([x, x[:, :1]], DType.I8, 0.7732463, 2.045217)) == "A and B have different shapes"
    assert "clamped" in str(KERNEL.accepts(site_for([x, x], DType.I8, 0.7732463, 2.045217, low=-100)))
    assert "32-bit form" in str(KERNEL.accepts(site_for([x, x], DType.I8, 0.5, 0.25)))  # halves occur
