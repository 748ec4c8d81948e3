"""Additions and products of both instruction sets, in their C forms: equal to the references, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.api.testing import UBSAN, byte_array, make_requant, refusal, run_kernel, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import Layout, channels_last, row_major
from tilewright.operators.quantised.qelementwise import QADD, QMUL
from tilewright_cortexm.kernels import KERNELS

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
BYTES = (DType.I8, DType.U8)
SCALES = ((0.7732463, 2.045217), (0.31, -0.9), (0.01, 0.02), (0.5, 0.25), (1.0, 1.0), (0.013, 3.7))


def of(op: str) -> list[Kernel]:
    return [kernel for kernel in KERNELS if kernel.op == op and "onnx" in kernel.roundings]


@st.composite
def operands(draw: st.DrawFn) -> tuple[np.random.Generator, list[Array | None], DType]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a_type, b_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    shape = tuple(draw(st.integers(1, 7)) for _ in range(draw(st.integers(1, 4))))
    other = tuple(draw(st.sampled_from([1, extent, extent])) for extent in shape[draw(st.integers(0, len(shape))) :])
    saturated = draw(st.booleans())
    shapes = (shape, other) if draw(st.booleans()) else (other, shape)
    arrays = [byte_array(rng, dtype, one, saturated) for dtype, one in zip((a_type, b_type), shapes, strict=True)]
    return rng, list(arrays), y_type


@st.composite
def sums(draw: st.DrawFn) -> Case:
    _, inputs, y_type = draw(operands())
    low, high = y_type.limits
    a_scale, b_scale = draw(st.sampled_from(SCALES))
    narrowed = draw(st.sampled_from([(low, high), (low, high), (low + 20, high), (low + 3, high - 90)]))
    attributes: dict[str, Attribute] = {
        "a_scale": float(np.float32(a_scale)), "b_scale": float(np.float32(b_scale)), "a_zero_point": 3,
        "b_zero_point": -7, "zero_point": draw(st.sampled_from([low, low + 5, high])), "low": narrowed[0],
        "high": narrowed[1], "output_type": y_type.value,
    }  # fmt: skip
    return site_of(QADD, inputs, attributes), inputs


@st.composite
def products(draw: st.DrawFn) -> Case:
    rng, inputs, y_type = draw(operands())
    requant = make_requant(rng, 1, y_type, 9000.0, draw(st.sampled_from(["random", "ties", "coarse"])))
    if draw(st.booleans()):
        requant = replace(requant, low=min(requant.low + 20, requant.high))
    attributes: dict[str, Attribute] = {
        "a_zero_point": draw(st.sampled_from([0, -128, 77])), "b_zero_point": draw(st.sampled_from([0, 255])),
        "requant": requant, "output_type": y_type.value,
    }  # fmt: skip
    return site_of(QMUL, inputs, attributes), inputs


def layouts_of(draw: st.DrawFn, site: Site) -> dict[str, Layout]:
    """Any mixture of row-major and channels-last operands."""
    ranks = {"A": site.input(0).shape, "B": site.input(1).shape, "Y": site.output.shape}
    return {name: draw(st.sampled_from([row_major, channels_last]))(len(shape)) for name, shape in ranks.items()}


@pytest.mark.slow
@pytest.mark.parametrize("kernel", of("QAdd"), ids=lambda kernel: kernel.name)
@compiled
@given(data=st.data())
def test_sums(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, data: st.DataObject) -> None:
    site, inputs = data.draw(sums())
    assume(refusal(kernel, site) is None)
    layouts, folder = layouts_of(data.draw, site), tmp_path_factory.mktemp("c")
    (found,) = run_kernel(QADD, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, QADD.reference(site, inputs)[0])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", of("QMul"), ids=lambda kernel: kernel.name)
@compiled
@given(data=st.data())
def test_products(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, data: st.DataObject) -> None:
    site, inputs = data.draw(products())
    assume(refusal(kernel, site) is None)
    layouts, folder = layouts_of(data.draw, site), tmp_path_factory.mktemp("c")
    (found,) = run_kernel(QMUL, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, QMUL.reference(site, inputs)[0])


@pytest.mark.parametrize("kernel", of("QAdd"), ids=lambda kernel: kernel.name)
def test_sums_of_more_than_32_bits_are_refused(kernel: Kernel) -> None:
    x: list[Array | None] = [np.zeros(4, np.int8), np.zeros(4, np.int8)]
    attributes: dict[str, Attribute] = {
        "a_scale": float(np.float32(1.7)), "b_scale": float(np.float32(2.0**-30 * 1.3)), "a_zero_point": 0,
        "b_zero_point": 0, "zero_point": 0, "low": -128, "high": 127,
    }  # fmt: skip
    refused = refusal(kernel, site_of(QADD, x, attributes))
    assert refused is None or "32 bits" in refused
    assert "8" in str(refusal(kernel, replace_type(site_of(QADD, x, {**attributes, "b_scale": 1.0}))))


def replace_type(site: Site) -> Site:
    """The same addition of 32-bit integers, which nothing here computes."""
    return replace(site, inputs=tuple(tensor and replace(tensor, dtype=DType.I32) for tensor in site.inputs))


@pytest.mark.parametrize("kernel", of("QAdd"), ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("dtype", BYTES)
def test_a_sum_of_32_bits_is_computed_beside_the_bytes_of_an_operand_or_in_them(
    kernel: Kernel, dtype: DType, tmp_path: Path
) -> None:
    rng, (low, high) = np.random.default_rng(4), dtype.limits
    inputs = [byte_array(rng, dtype, (3, 5, 19), saturated=False), byte_array(rng, dtype, (5, 19), saturated=True)]
    attributes: dict[str, Attribute] = {
        "a_scale": 0.5, "b_scale": 0.25, "a_zero_point": 3, "b_zero_point": 1, "zero_point": 2, "low": low,
        "high": high - 20, "output_type": dtype.value,
    }  # fmt: skip
    site = site_of(QADD, inputs, attributes)
    assert refusal(kernel, site) is None
    for in_place in (False, True):
        (found,) = run_kernel(QADD, kernel, site, inputs, folder=tmp_path, in_place=in_place)
        assert np.array_equal(found, QADD.reference(site, inputs)[0])
