"""What integer operators share: types and ranges by attribute, exact products, requantisation as C."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Attribute, Node, Site, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.operators.shared.integer_sites import (
    centred,
    centred_weights,
    exact_product,
    input_range,
    not_bytes,
    not_values,
    not_weights,
    output_dtype,
    packed_bias,
    requant_dtype,
    zero_points,
)


def site(*types: DType, output: DType = DType.I8, **attributes: Attribute) -> Site:
    names = tuple(f"in{index}" for index in range(len(types)))
    return Site(
        node=Node(name="n", op="QAny", inputs=names, outputs=("y",), attributes=attributes),
        inputs=tuple(Tensor(name=name, dtype=dtype, shape=(2,)) for name, dtype in zip(names, types, strict=True)),
        outputs=(Tensor(name="y", dtype=output, shape=(2,)),),
        constants={},
    )


@pytest.mark.parametrize(("low", "high", "first", "expected"), [
    (-1, 127, DType.U8, DType.I8),  # below 0
    (0, 128, DType.I8, DType.U8),  # above 127
    (0, 127, DType.I8, DType.I8),  # either would do
    (0, 127, DType.U8, DType.U8),
])  # fmt: skip
def test_the_output_type(low: int, high: int, first: DType, expected: DType) -> None:
    requant = Requant(scale=(1.0,), zero_point=0, low=low, high=high)
    assert output_dtype(site(first), low, high) is expected
    assert requant_dtype(site(first, requant=requant)) is expected
    assert requant_dtype(site(first, requant=requant, output_type="u8")) is DType.U8


def test_zero_points() -> None:
    node = site(DType.I8, one=-3, several=(1, 2)).node
    assert [zero_points(node, name) for name in ("one", "several", "absent")] == [(-3,), (1, 2), (0,)]


def test_ranges_of_inputs() -> None:
    """`x_range` is about the first input, and cannot widen its type."""
    known = site(DType.U8, DType.I8, x_range=(-5, 60))
    assert (input_range(known), input_range(known, 1)) == ((0, 60), (-128, 127))
    assert input_range(site(DType.I8, x_range=(-7, 300))) == (-7, 127)
    assert input_range(site(DType.I8)) == (-128, 127)


def test_centred_values_do_not_wrap() -> None:
    assert centred(np.array([0, 255], np.uint8), 255).tolist() == [-255, 0]
    assert centred(np.array([[-128], [127]], np.int8), np.array([127, -128])).tolist() == [[-255, 0], [0, 255]]


def test_weights_are_centred_by_output_channel() -> None:
    weights = np.array([[1, 2], [3, 255]], np.uint8)

    def weights_of(op: str, **zeros: Attribute) -> list[list[int]]:
        return centred_weights(replace(site(DType.U8).node, op=op, attributes=zeros), weights).tolist()

    assert weights_of("QConv", w_zero_point=(1, 255)) == [[0, 1], [-252, 0]]
    assert weights_of("QGemm", b_zero_point=(1, 255)) == [[0, -253], [2, 0]]
    assert weights_of("QGemm", b_zero_point=2) == [[-1, 0], [1, 253]]
    assert weights_of("QConv") == weights.tolist()


def test_products_are_exact() -> None:
    """Beyond what float32 holds: 300 products of 255 and 255, and one."""
    one, other = np.full((1, 301), 255), np.full((301, 1), 255)
    one[0, 0] = other[0, 0] = 1
    found = exact_product(one, other)
    assert (found.tolist(), found.dtype) == ([[300 * 255**2 + 1]], np.int64)


def test_values_that_are_no_bytes() -> None:
    assert not_bytes(site(DType.I8, DType.I32), 0) is None
    assert "found i32" in str(not_bytes(site(DType.I8, DType.I32), 0, 1))
    assert "found i16" in str(not_bytes(site(DType.U8, output=DType.I16), 0))


def test_values_have_8_or_16_bits() -> None:
    assert not_values(site(DType.I16, output=DType.U16), 0) is None
    assert not_values(site(DType.I8, DType.I16, output=DType.U8), 0, 1) is None
    assert not_values(site(DType.I32), 0) == "values must be integers of 8 or 16 bits, found i32"
    assert not_values(site(DType.I8, output=DType.F32), 0) == "values must be integers of 8 or 16 bits, found f32"


def test_weights_are_constants_of_8_bits() -> None:
    whole = site(DType.I16, DType.I8, DType.I64)
    arrays = {"in1": np.zeros(2, np.int8), "in2": np.array([2**33, 0])}
    assert not_weights(whole) == not_weights(replace(whole, constants={"in1": arrays["in1"]}))
    assert not_weights(whole) == "weights and bias must be constants"
    assert not_weights(replace(whole, constants=arrays)) is None
    assert "found i16" in str(not_weights(replace(site(DType.I16, DType.I16), constants=arrays)))
    assert "found f32" in str(not_weights(replace(site(DType.I16, DType.I8, DType.F32), constants=arrays)))


def test_a_bias_is_stored_in_32_bits_where_they_are_enough() -> None:
    whole = site(DType.I16, DType.I8, DType.I64)
    for value, kind in ((2**31 - 1, np.int32), (2**31, np.int64), (-(2**31), np.int32)):
        packed = packed_bias(replace(whole, constants={"in2": np.array([value, 0])}))
        assert (packed.dtype, packed.tolist()) == (np.dtype(kind), [value, 0])
