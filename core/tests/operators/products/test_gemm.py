"""Gemm: the map against the reference, the C against the reference, whole and in tiles, in any layout."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tests.operators.float_product_checks import (
    Case,
    Floats,
    check_c,
    check_map,
    check_windows,
    compiled,
    either_real,
    few,
    floats,
)
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute
from tilewright.operators.products.gemm import GEMM, GEMM_F32, GEMM_WEIGHTS_F32
from tilewright.testing.operator_sites import refusal, site_of


@st.composite
def gemms(draw: st.DrawFn) -> Case:
    lead = draw(st.lists(st.integers(1, 3), min_size=0, max_size=2))
    rows, depth, columns = (draw(st.integers(1, 6)) for _ in range(3))
    trans_b, constant = draw(st.booleans()), draw(st.booleans())
    real = either_real(draw)
    a = floats(draw, real, *lead, rows, depth)
    b = floats(draw, real, *((columns, depth) if trans_b else (depth, columns)))
    shape = draw(st.sampled_from([None, (), (1,), (columns,), (1, columns), (rows, 1), (rows, columns)]))
    inputs: list[Floats | None] = [a, b] if shape is None else [a, b, floats(draw, real, *shape)]
    attributes: dict[str, Attribute] = {"transB": int(trans_b)}
    if draw(st.booleans()):
        attributes |= {"alpha": 0.5, "beta": -1.25}
    if draw(st.booleans()):
        attributes |= {"clip_low": 0.0, "clip_high": 6.0}
    constants = (1, *((2,) if shape is not None and draw(st.booleans()) else ())) if constant else ()
    site = site_of(GEMM, inputs, attributes, constants)
    return GEMM, GEMM_WEIGHTS_F32 if constant else GEMM_F32, site, inputs


@few
@given(case=gemms())
def test_map_is_the_reference(case: Case) -> None:
    check_map(case)


@few
@given(case=gemms(), data=st.data())
def test_windows_are_hulls(case: Case, data: st.DataObject) -> None:
    check_windows(case, data)


@pytest.mark.slow
@compiled
@given(case=gemms(), data=st.data())
def test_c_in_any_layout(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    check_c(tmp_path_factory.mktemp("c"), case, data)


def test_only_one_kernel_takes_a_site() -> None:
    a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    for constants, taken in (((1,), 0), ((), 1)):
        site = site_of(GEMM, [a, b], {}, constants)
        assert [refusal(kernel, site) is None for kernel in (GEMM_WEIGHTS_F32, GEMM_F32)] == [taken == 0, taken == 1]


def test_shape_and_macs() -> None:
    site = site_of(GEMM, [np.ones((5, 3), np.float32), np.ones((7, 3), np.float32)], {"transB": 1})
    assert site.output.shape == (5, 7)
    assert GEMM.macs(site) == 5 * 7 * 3


@pytest.mark.parametrize(
    "shapes", [((2, 3), (4, 5)), ((2, 3), (3,)), ((2, 3), (3, 5), (4,)), ((2, 3), (3, 5), (1, 2, 5))]
)
def test_wrong_shapes_are_model_errors(shapes: tuple[tuple[int, ...], ...]) -> None:
    inputs: list[Floats | None] = [np.ones(shape, np.float32) for shape in shapes]
    with pytest.raises(TilewrightError) as caught:
        site_of(GEMM, inputs)
    assert caught.value.code == "TW1310"
