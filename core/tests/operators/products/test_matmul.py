"""MatMul: the map against the reference, the C against the reference, whole and in tiles, in any layout."""

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
from tilewright.operators.products.matmul import MATMUL, MATMUL_F32, MATMUL_WEIGHTS_F32
from tilewright.testing.operator_sites import refusal, site_of


@st.composite
def matmuls(draw: st.DrawFn) -> Case:
    rows, depth, columns = (draw(st.integers(1, 6)) for _ in range(3))
    lead = draw(st.lists(st.integers(1, 3), min_size=0, max_size=3))
    lead_a = [draw(st.sampled_from([extent, extent, 1])) for extent in lead]
    lead_b = [draw(st.sampled_from([extent, extent, 1])) for extent in lead][draw(st.integers(0, len(lead))) :]
    real = either_real(draw)
    a, b = floats(draw, real, *lead_a, rows, depth), floats(draw, real, *lead_b, depth, columns)
    constant = not lead_b and draw(st.booleans())
    attributes: dict[str, Attribute] = {"clip_low": -1.0} if draw(st.booleans()) else {}
    site = site_of(MATMUL, [a, b], attributes, (1,) if constant else ())
    return MATMUL, MATMUL_WEIGHTS_F32 if constant else MATMUL_F32, site, [a, b]


@few
@given(case=matmuls())
def test_map_is_the_reference(case: Case) -> None:
    check_map(case)


@few
@given(case=matmuls(), data=st.data())
def test_windows_are_hulls(case: Case, data: st.DataObject) -> None:
    check_windows(case, data)


@pytest.mark.slow
@compiled
@given(case=matmuls(), data=st.data())
def test_c_in_any_layout(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    check_c(tmp_path_factory.mktemp("c"), case, data)


def test_only_one_kernel_takes_a_site() -> None:
    a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    for constants, taken in (((1,), 0), ((), 1)):
        site = site_of(MATMUL, [a, b], {}, constants)
        assert [refusal(kernel, site) is None for kernel in (MATMUL_WEIGHTS_F32, MATMUL_F32)] == [
            taken == 0,
            taken == 1,
        ]


def test_shape_and_macs() -> None:
    a, b = np.ones((2, 1, 5, 3), np.float32), np.ones((4, 3, 7), np.float32)
    site = site_of(MATMUL, [a, b])
    assert site.output.shape == (2, 4, 5, 7)
    assert MATMUL.macs(site) == 2 * 4 * 5 * 7 * 3


@pytest.mark.parametrize("shapes", [((2, 3), (4, 5)), ((3,), (3, 5)), ((2, 2, 3), (3, 3, 5))])
def test_wrong_shapes_are_model_errors(shapes: tuple[tuple[int, ...], ...]) -> None:
    inputs: list[Floats | None] = [np.ones(shape, np.float32) for shape in shapes]
    with pytest.raises(TilewrightError) as caught:
        site_of(MATMUL, inputs)
    assert caught.value.code == "TW1310"
