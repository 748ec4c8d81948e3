"""Weights of 4 and 2 bits: rows of bytes against numpy, and the portable C that takes them apart again."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qconv import QCONV, QCONV_NARROW
from tilewright.operators.quantised.qgemm import QGEMM, QGEMM_NARROW
from tilewright.operators.shared.packed_weights import limits, pack_rows, row_bytes, unpack_rows, weight_bits
from tilewright.testing.kernels.kernel_run import UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import byte_array, make_requant, refusal, site_of

Array = npt.NDArray[np.generic]
Case = tuple[Operator, Kernel, Site, list[Array | None]]
compiled = settings.get_profile("programs")
WIDTHS = st.sampled_from((2, 4))


def integers(rng: np.random.Generator, bits: int, shape: tuple[int, ...]) -> npt.NDArray[np.int8]:
    low, high = limits(bits)
    return rng.integers(low, high, shape, endpoint=True).astype(np.int8)


@settings(deadline=None)
@given(bits=WIDTHS, rows=st.integers(1, 5), count=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_rows_of_bytes_hold_every_value_from_the_lowest_bits_on(bits: int, rows: int, count: int, seed: int) -> None:
    values = integers(np.random.default_rng(seed), bits, (rows, count))
    packed = pack_rows(values, bits)
    assert packed.shape == (rows, row_bytes(count, bits)) and packed.nbytes * 8 < rows * (count * bits + 8)
    assert np.array_equal(unpack_rows(packed, count, bits), values)
    for row, line in zip(values, packed, strict=True):  # as one long number
        assert int.from_bytes(line.tobytes(), "little") == sum(
            (int(value) % 2**bits) << (bits * at) for at, value in enumerate(row)
        )


@st.composite
def gemm_cases(draw: st.DrawFn) -> Case:
    rng, bits = np.random.default_rng(draw(st.integers(0, 2**32))), draw(WIDTHS)
    x_type = draw(st.sampled_from([DType.I8, DType.U8, DType.I16]))
    depth, columns = draw(st.integers(1, 40)), draw(st.integers(1, 9))
    inputs: list[Array | None] = [
        byte_array(rng, x_type, (draw(st.integers(1, 3)), depth), saturated=False),
        integers(rng, bits, (depth, columns)),
        rng.integers(-900, 900, columns).astype(np.int32) if draw(st.booleans()) else None,
    ]
    attributes: dict[str, Attribute] = {
        "a_zero_point": draw(st.sampled_from([0, *x_type.limits])),
        "b_zero_point": draw(st.sampled_from([(0,), (1,), tuple(int(one) for one in integers(rng, bits, (columns,)))])),
        "requant": make_requant(rng, columns, x_type, 128.0 * 2**bits * np.sqrt(depth), "random"),
        "output_type": x_type.value,
        "weight_bits": bits,
    }
    return QGEMM, QGEMM_NARROW, site_of(QGEMM, inputs, attributes, (1, 2)), inputs


@st.composite
def conv_cases(draw: st.DrawFn) -> Case:
    rng, bits = np.random.default_rng(draw(st.integers(0, 2**32))), draw(WIDTHS)
    group, channels, outputs = draw(st.sampled_from([1, 2])), draw(st.integers(2, 5)), draw(st.integers(1, 5))
    taps = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    inputs: list[Array | None] = [
        byte_array(rng, DType.I8, (1, group * channels, 5, 6), saturated=False),
        integers(rng, bits, (group * outputs, channels, *taps)),
        rng.integers(-900, 900, group * outputs).astype(np.int32),
    ]
    attributes: dict[str, Attribute] = {
        "kernel_shape": taps, "strides": (draw(st.integers(1, 2)), 1), "dilations": (1, draw(st.integers(1, 2))),
        "pads": tuple(draw(st.integers(0, 1)) for _ in range(4)), "group": group, "ceil_mode": 0,
        "x_zero_point": draw(st.sampled_from([0, -128, 5])), "pad_value": draw(st.sampled_from([0, 5])),
        "w_zero_point": draw(st.sampled_from([(0,), (-1,)])),
        "requant": make_requant(rng, group * outputs, DType.I8, 900.0 * 2**bits, "random"), "weight_bits": bits,
    }  # fmt: skip
    return QCONV, QCONV_NARROW, site_of(QCONV, inputs, attributes, (1, 2)), inputs


@pytest.mark.slow
@compiled
@given(case=st.one_of(gemm_cases(), conv_cases()), data=st.data())
def test_portable_c_takes_packed_weights_apart(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject
) -> None:
    operator, kernel, site, inputs = case
    assert refusal(kernel, site) is None
    bits, weights = weight_bits(site), np.asarray(inputs[1])
    packed = layer_of(operator, kernel, site).packed["W" if operator is QCONV else "B"]
    assert packed.dtype == np.uint8 and packed.nbytes == len(packed) * row_bytes(weights.size // len(packed), bits)
    expected = operator.reference(site, inputs)[0]
    if data.draw(st.booleans()):
        loops = [loop.name for loop in operator.access(site).loops if loop.kind == "parallel"]
        cuts = {loop: data.draw(st.integers(1, 4)) for loop in loops}
        (found,) = run_tiled(operator, kernel, site, inputs, cuts=cuts, folder=tmp_path_factory.mktemp("c"))
    else:
        (found,) = run_kernel(operator, kernel, site, inputs, folder=tmp_path_factory.mktemp("c"), flags=UBSAN)
    assert np.array_equal(found, expected)


def gemm(weights: Array, **attributes: Attribute) -> Site:
    a = np.zeros((1, weights.shape[0]), np.int8)
    requant = make_requant(np.random.default_rng(0), 1, DType.I8, 100.0, "random")
    return site_of(QGEMM, [a, weights], {"requant": requant, **attributes}, (1,))


def test_a_layer_has_narrow_weights_where_the_file_says_so_and_all_of_them_fit() -> None:
    small, large = np.array([[-8], [7]], np.int8), np.array([[-9], [7]], np.int8)
    assert weight_bits(gemm(small, weight_bits=4)) == 4
    assert weight_bits(gemm(small)) == 8
    assert weight_bits(gemm(large, weight_bits=4)) == 8
    assert weight_bits(gemm(small, weight_bits=2)) == 8
    assert refusal(QGEMM_NARROW, gemm(large, weight_bits=4)) == "weights have 8 bits"


def test_depthwise_weights_stay_bytes() -> None:
    rng = np.random.default_rng(0)
    window: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 4,
        "requant": make_requant(rng, 4, DType.I8, 100.0, "random"), "weight_bits": 4,
    }  # fmt: skip
    site = site_of(QCONV, [np.zeros((1, 4, 5, 5), np.int8), integers(rng, 4, (4, 1, 3, 3))], window, (1,))
    assert weight_bits(site) == 8
    full = dataclasses.replace(site, node=dataclasses.replace(site.node, attributes={**window, "group": 1}))
    assert weight_bits(full) == 4
