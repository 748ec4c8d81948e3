"""Sums and products of two computed tensors, in the portable form of their instructions, equal the references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.api.testing import byte_array, make_requant, refusal, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.operators.quantised.qelementwise import QADD
from tilewright.operators.quantised.qgemm import QMATMUL
from tilewright_siracusa.kernels import add, matmul

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None], np.random.Generator]
Check = Callable[..., None]
compiled: Any = settings.get_profile("programs")
BYTES = (DType.I8, DType.U8)
SHAPES = (
    ((1, 3, 5, 4), (1, 3, 5, 4)), ((7,), (7,)), ((2, 9), (2, 9)), ((2, 3, 4), (3, 4)), ((2, 3, 4), (2, 1, 4)),
    ((4, 1), (5,)), ((1, 8, 3, 3), (8, 1, 1)),
)  # fmt: skip
PRODUCTS = (
    ((5, 8), (8, 6)), ((1, 4), (4, 4)), ((2, 3, 7), (2, 7, 5)), ((2, 2, 6, 12), (2, 2, 12, 9)), ((3, 4, 16), (16, 8)),
    ((1, 3, 5), (4, 5, 3)),
)  # fmt: skip


@st.composite
def add_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a_type, b_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    shapes = draw(st.sampled_from(SHAPES))
    inputs: list[Array | None] = [
        byte_array(rng, dtype, shape, draw(st.booleans()))
        for dtype, shape in zip((a_type, b_type), shapes, strict=True)
    ]
    low, high = y_type.limits
    narrowed = draw(st.sampled_from([(low, high), (low, high), (low + 20, high), (low + 3, high - 90)]))
    scale = 2.0 ** rng.uniform(-3, 1, 2) * rng.choice([1, -1], 2)
    attributes: dict[str, Attribute] = {
        "a_scale": float(np.float32(scale[0])), "b_scale": float(np.float32(scale[1])),
        "a_zero_point": draw(st.sampled_from([0, *a_type.limits])), "b_zero_point": draw(st.sampled_from([0, 3])),
        "zero_point": int(rng.integers(low, high + 1)), "low": narrowed[0], "high": narrowed[1],
        "output_type": y_type.value,
    }  # fmt: skip
    return site_of(QADD, inputs, attributes), inputs, rng


@st.composite
def matmul_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a_type, b_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    shapes = draw(st.sampled_from(PRODUCTS))
    inputs: list[Array | None] = [
        byte_array(rng, dtype, shape, draw(st.booleans()))
        for dtype, shape in zip((a_type, b_type), shapes, strict=True)
    ]
    reach = 255 * 255 * np.sqrt(shapes[0][-1])
    attributes: dict[str, Attribute] = {
        "a_zero_point": draw(st.sampled_from([0, *a_type.limits])),
        "b_zero_point": (draw(st.sampled_from([0, *b_type.limits])),),
        "requant": make_requant(rng, 1, y_type, reach, draw(st.sampled_from(["random", "ties", "coarse"]))),
        "output_type": y_type.value,
    }
    return site_of(QMATMUL, inputs, attributes), inputs, rng


@compiled
@given(case=add_cases())
def test_sums(check: Check, case: Case) -> None:
    site, inputs, rng = case
    assume(refusal(add.QADD, site) is None)
    check(QADD, add.QADD, site, inputs, rng)


@compiled
@given(case=matmul_cases())
def test_products(check: Check, case: Case) -> None:
    site, inputs, rng = case
    assert refusal(matmul.MATMUL, site) is None
    check(QMATMUL, matmul.MATMUL, site, inputs, rng)


def test_refusals_say_why() -> None:
    x = np.zeros((2, 4), np.int8)
    sums: dict[str, Attribute] = {
        "a_scale": 0.5, "b_scale": 0.5, "a_zero_point": 0, "b_zero_point": 0, "zero_point": 0, "low": -128, "high": 127,
    }  # fmt: skip
    assert "without ties" in str(refusal(add.QADD, site_of(QADD, [x, x], sums)))
    requant = Requant(scale=(0.25,), zero_point=0, low=-128, high=127)
    products: dict[str, Attribute] = {"a_zero_point": 0, "b_zero_point": (0,), "requant": requant}
    deep = np.zeros((1, 9000), np.int8)
    assert "9000 products" in str(refusal(matmul.MATMUL, site_of(QMATMUL, [deep, deep.T.copy()], products)))
    own = {**products, "b_zero_point": (0, 1)}
    assert "constant weights" in str(refusal(matmul.MATMUL, site_of(QMATMUL, [x, x.T.copy()], own)))
