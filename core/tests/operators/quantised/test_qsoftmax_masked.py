"""QMaskedSoftmax: the reference against QSoftmax of what is left, the C against the reference."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.arithmetic.wide_softmax import exact_row, factors
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qsoftmax import exponentials
from tilewright.operators.quantised.qsoftmax_masked import (
    QMASKED_SOFTMAX,
    QMASKED_SOFTMAX_PORTABLE,
    QMASKED_SOFTMAX_WIDE,
)
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import byte_array, refusal, site_of

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
BUILDS = (("gcc", *UBSAN), ("gcc", *STRICT, "-O2"), ("clang", *STRICT, "-O2"))
BYTES = st.sampled_from([DType.I8, DType.U8])
ATTRIBUTES: dict[str, Attribute] = {
    "x_scale": 0.06, "y_scale": 1 / 256, "zero_point": -128, "low": -128, "high": 127, "output_type": "i8",
}  # fmt: skip
WIDE: dict[str, Attribute] = {
    "x_scale": 2e-4, "y_scale": 2.0**-15, "zero_point": -5, "low": -(2**15), "high": 2**15 - 1, "output_type": "i16",
}  # fmt: skip


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (2, 3, 5)
    x = byte_array(rng, draw(BYTES), shape, draw(st.booleans()))
    own = draw(st.sampled_from([(2, 3, 5), (5,), (3, 1), (1, 3, 5), (2, 1, 1)]))
    masked = rng.random(own) < draw(st.sampled_from([0.2, 0.5, 1.0]))
    mask = masked if draw(st.booleans()) else masked.astype(np.uint8) * 7
    site = site_of(
        QMASKED_SOFTMAX,
        [x, mask],
        {**ATTRIBUTES, "axis": draw(st.sampled_from([0, 1, -1]))},
        draw(st.sampled_from([(), (1,)])),
    )
    return site, [x, mask]


@given(case=cases())
def test_reference_is_softmax_of_what_is_left(case: Case) -> None:
    site, (x, mask) = case
    axis = site.node.integer("axis")
    (found,) = QMASKED_SOFTMAX.reference(site, [x, mask])
    rows, counts = (
        np.moveaxis(np.asarray(each), axis, -1) for each in (x, np.broadcast_to(np.asarray(mask) == 0, np.shape(x)))
    )
    table = [int(entry) for entry in exponentials(rows.shape[-1], 0.06, 1 / 256)]
    for row, left, results in zip(
        *(each.reshape(-1, rows.shape[-1]) for each in (rows, counts, np.moveaxis(found, axis, -1))), strict=True
    ):
        assert set(results[~left].tolist()) <= {-128}
        below = [int(row[left].max()) - int(value) for value in row[left]] if left.any() else []
        entries = [table[d] if d < len(table) else 0 for d in below]
        divisor = (sum(entries) * 2**23 + 2**30) // 2**31
        assert results[left].tolist() == [min((entry + divisor // 2) // divisor - 128, 127) for entry in entries]


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject, build: tuple[str, ...]
) -> None:
    site, inputs = case
    assert refusal(QMASKED_SOFTMAX_PORTABLE, site) is None
    layouts = {name: tuple(data.draw(st.permutations(range(3)))) for name in "XY"}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(
            QMASKED_SOFTMAX, QMASKED_SOFTMAX_PORTABLE, site, inputs, folder=folder, layouts=layouts, flags=build[1:]
        )
    assert np.array_equal(found, QMASKED_SOFTMAX.reference(site, inputs)[0])


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data())
def test_c_in_tiles(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    site, inputs = case
    cuts = {loop.name: data.draw(st.integers(1, 3)) for loop in QMASKED_SOFTMAX.access(site).loops}
    folder = tmp_path_factory.mktemp("c")
    (found,) = run_tiled(QMASKED_SOFTMAX, QMASKED_SOFTMAX_PORTABLE, site, inputs, cuts=cuts, folder=folder)
    assert np.array_equal(found, QMASKED_SOFTMAX.reference(site, inputs)[0])


def test_masks_that_do_not_broadcast_are_model_errors() -> None:
    x = np.zeros((2, 3), np.int8)
    for mask in (np.zeros((2,), np.uint8), np.zeros((3,), np.int8), np.zeros((1, 2, 3), np.uint8)):
        with pytest.raises(TilewrightError, match="broadcasts to X"):
            site_of(QMASKED_SOFTMAX, [x, mask], {**ATTRIBUTES, "axis": 1})


@st.composite
def wide_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = byte_array(rng, draw(st.sampled_from([DType.I16, DType.U16])), (2, 3, 5), draw(st.booleans()))
    mask = rng.random(draw(st.sampled_from([(2, 3, 5), (5,), (3, 1)]))) < draw(st.sampled_from([0.3, 0.6, 1.0]))
    attributes = {**WIDE, "axis": draw(st.sampled_from([0, 1, -1]))}
    return site_of(QMASKED_SOFTMAX, [x, mask], attributes, draw(st.sampled_from([(), (1,)]))), [x, mask]


@given(case=wide_cases())
def test_16_bits_are_softmax_of_what_is_left(case: Case) -> None:
    site, (x, mask) = case
    axis, table = site.node.integer("axis"), factors(2e-4).astype(np.int64)
    (found,) = QMASKED_SOFTMAX.reference(site, [x, mask])
    rows, counts, results = (
        np.moveaxis(np.asarray(each), axis, -1)
        for each in (x, np.broadcast_to(np.asarray(mask) == 0, np.shape(x)), found)
    )
    for place in np.ndindex(rows.shape[:-1]):
        left = counts[place]
        assert set(results[place][~left].tolist()) <= {-5}
        if left.any():
            wanted = exact_row(rows[place][left].astype(np.int64), table, 2.0**-15) - 5
            assert results[place][left].tolist() == np.minimum(wanted, 2**15 - 1).tolist()


@pytest.mark.slow
@compiled
@given(case=wide_cases(), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_of_16_bits_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject, build: tuple[str, ...]
) -> None:
    site, inputs = case
    assert refusal(QMASKED_SOFTMAX_WIDE, site) is None and refusal(QMASKED_SOFTMAX_PORTABLE, site) is not None
    layouts = {name: tuple(data.draw(st.permutations(range(3)))) for name in "XY"}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(
            QMASKED_SOFTMAX, QMASKED_SOFTMAX_WIDE, site, inputs, folder=folder, layouts=layouts, flags=build[1:]
        )
    assert np.array_equal(found, QMASKED_SOFTMAX.reference(site, inputs)[0])
