"""Pools of 16-bit values: windows that overhang, odd channels, limits, what is refused, and quotients themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.graph import Attribute, DType, Rational, Requant, requantise
from tilewright.api.kernel import Kernel
from tilewright.api.testing import byte_array, site_of, vocabulary
from tilewright.testing.kernels.kernel_run import UBSAN, run_kernel
from tilewright.testing.operator_sites import refusal
from tilewright_cortexm.kernels.words_pools import KERNELS, MOST_DIVISOR, multipliers

Array = npt.NDArray[np.generic]
LARGEST, MEAN, DSP_MEAN = KERNELS
LAST = {"X": (0, 2, 3, 1), "Y": (0, 2, 3, 1)}


def quotients(*divisors: int, **changes: int) -> Requant:
    rounding = Rational(numerator=(1,) * len(divisors), denominator=divisors, halves="away")
    scale = tuple(1 / divisor for divisor in divisors)
    plain = Requant(scale=scale, zero_point=0, low=-(2**15), high=2**15 - 1, rounding=rounding)
    return replace(plain, **changes)


def windows(kernel: tuple[int, int], pad: int, **more: Attribute) -> dict[str, Attribute]:
    return {"kernel_shape": kernel, "strides": (2, 1), "dilations": (1, 1), "pads": (pad,) * 4, "ceil_mode": 0, **more}


def means(requant: Requant, kernel: tuple[int, int] = (2, 3), pad: int = 0, **more: Any) -> dict[str, Attribute]:
    means_of: dict[str, Attribute] = {"requant": requant, "x_zero_point": 0, "output_type": "i16"}
    return {**windows(kernel, pad, count_include_pad=0), **means_of, **more}


@pytest.mark.parametrize("channels", [1, 5, 8, 12])
@pytest.mark.parametrize(("kernel", "attributes"), [
    (LARGEST, windows((2, 3), 0)), (LARGEST, windows((3, 3), 2)), (MEAN, means(quotients(6))),
    (DSP_MEAN, means(quotients(6))), (DSP_MEAN, means(quotients(6, low=0, high=900))),
    (MEAN, means(quotients(6, low=-7, high=900))), (MEAN, means(quotients(*range(1, 10)), (3, 3), 1)),
    (DSP_MEAN, means(quotients(*range(1, 10)), (3, 3), 2)),
    (MEAN, means(quotients(*range(1, 10)), (3, 3), 1, count_include_pad=1)),
])  # fmt: skip
def test_they_are_the_reference(
    kernel: Kernel, attributes: dict[str, Attribute], channels: int, tmp_path: Path
) -> None:
    x: list[Array | None] = [byte_array(np.random.default_rng(channels), DType.I16, (2, channels, 7, 6), True)]
    site = site_of(vocabulary()[kernel.op], x, attributes)
    assert refusal(kernel, site) is None
    (found,) = run_kernel(vocabulary()[kernel.op], kernel, site, x, folder=tmp_path, layouts=LAST, flags=UBSAN)
    assert np.array_equal(found, vocabulary()[kernel.op].reference(site, x)[0])


@given(divisor=st.integers(1, MOST_DIVISOR), data=st.data())
def test_quotients_are_exact(divisor: int, data: st.DataObject) -> None:
    reach, (multiplier,) = 2**15 * divisor, multipliers((divisor,))
    one = quotients(divisor)
    halves = [(2 * whole + 1) * divisor // 2 + beside for whole in (-(2**15), -1, 0, 32766) for beside in (-1, 0, 1)]
    for acc in [-reach, reach - divisor, *halves, *data.draw(st.lists(st.integers(-reach, reach), max_size=20))]:
        (wanted,) = requantise(np.array([acc], np.int64), one, 0)
        assert np.clip((acc * multiplier + 2**30) >> 31, -(2**15), 2**15 - 1) == wanted, acc


def test_what_does_not_fit_is_refused() -> None:
    def reason(attributes: dict[str, Attribute], extent: int = 7) -> str:
        x: list[Array | None] = [np.zeros((1, 4, extent, extent), np.int16)]
        return str(refusal(MEAN, site_of(vocabulary()["QAveragePool"], x, attributes)))

    assert "has a zero point" in reason(means(quotients(6), x_zero_point=3))
    assert "divides by more than 181" in reason(means(quotients(196), (14, 14)), 14)
    assert "no quotient" in reason(means(Requant(scale=(0.2,), zero_point=0, low=-9, high=9)))
