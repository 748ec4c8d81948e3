"""QSoftmax: the reference against big integers and against floats, the C against the reference."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qsoftmax import QSOFTMAX, QSOFTMAX_PORTABLE, exponentials
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import byte_array, refusal, site_of

Array = npt.NDArray[np.generic]
few = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
compiled = settings.get_profile("programs")
BUILDS = (("gcc", *UBSAN), ("gcc", *STRICT, "-O2"), ("clang", *STRICT, "-O2"))
BYTES = st.sampled_from([DType.I8, DType.U8])
Case = tuple[Site, list[Array | None]]
scales = st.floats(2.0**-10, 1.0, width=32)
y_scales = st.one_of(st.sampled_from([2.0**-8, 2.0**-7, float(np.float32(1 / 255)), 2.0**-16, 1.5]), scales)


def softmax_site(x: Array, axis: int, x_scale: float, y_scale: float, y_type: DType) -> Site:
    low, high = y_type.limits
    attributes: dict[str, Attribute] = {
        "axis": axis, "x_scale": x_scale, "y_scale": y_scale, "zero_point": low, "low": low, "high": high,
    }  # fmt: skip
    return site_of(QSOFTMAX, [x], attributes)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.lists(st.integers(1, 12), min_size=1, max_size=3))
    x = byte_array(rng, draw(BYTES), shape, draw(st.booleans()))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    return softmax_site(x, axis, draw(scales), draw(y_scales), draw(BYTES)), [x]


def in_floats(site: Site, x: Array) -> npt.NDArray[np.int64]:
    """Softmax, then QuantizeLinear."""
    node = site.node
    logits = x.astype(np.float64) * node.number("x_scale")
    powers = np.exp(logits - logits.max(axis=node.integer("axis"), keepdims=True))
    real = powers / powers.sum(axis=node.integer("axis"), keepdims=True)
    y = np.rint(real / node.number("y_scale")) + node.integer("zero_point")
    clamped: npt.NDArray[np.int64] = np.clip(y, node.integer("low"), node.integer("high")).astype(np.int64)
    return clamped


@pytest.mark.slow
@few
@given(case=cases())
def test_at_most_one_step_from_floats(case: Case) -> None:
    site, (x,) = case
    assert x is not None and refusal(QSOFTMAX_PORTABLE, site) is None
    (found,) = QSOFTMAX.reference(site, [x])
    assert np.abs(found.astype(np.int64) - in_floats(site, x)).max() <= 1


@pytest.mark.parametrize("length", [1, 2, 10, 12, 257, 1000, 32768])
@pytest.mark.parametrize("x_scale", [0.001, 0.0301, 0.11, 1.7])
def test_long_rows_and_worst_rows(length: int, x_scale: float) -> None:
    rng = np.random.default_rng(length)
    rows = [rng.integers(-128, 128, length), np.full(length, -128), np.full(length, 127)]
    for below in (1, 20, 90, 255):  # one large element over many that are equal: the table's error adds up
        row = np.full(length, 127 - below)
        row[0] = 127
        rows.append(row)
    x = np.stack(rows).astype(np.int8)
    for y_scale in (2.0**-8, 2.0**-16):
        site = softmax_site(x, -1, x_scale, y_scale, DType.I8)
        (found,) = QSOFTMAX.reference(site, [x])
        assert np.abs(found.astype(np.int64) - in_floats(site, x)).max() <= 1


@pytest.mark.slow
@few
@given(case=cases())
def test_reference_is_its_definition(case: Case) -> None:
    site, (x,) = case
    assert x is not None
    node, axis = site.node, site.node.integer("axis")
    table = [int(entry) for entry in exponentials(x.shape[axis], node.number("x_scale"), node.number("y_scale"))]
    scale = round(node.number("y_scale") * 2**31)
    found = np.moveaxis(QSOFTMAX.reference(site, [x])[0], axis, -1).reshape(-1, x.shape[axis])
    for row, expected in zip(np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis]).tolist(), found.tolist(), strict=True):
        below = [max(row) - value for value in row]
        entries = [table[d] if d < len(table) else 0 for d in below]
        product = sum(entries) * scale + 2**30
        divisor = product // 2**31
        assert product < 2**64 and divisor > 0 and max(entries) + divisor // 2 < 2**32
        results = [(entry + divisor // 2) // divisor + node.integer("zero_point") for entry in entries]
        assert [min(max(y, node.integer("low")), node.integer("high")) for y in results] == expected


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject, build: tuple[str, ...]
) -> None:
    site, inputs = case
    layouts = {name: tuple(data.draw(st.permutations(range(len(site.output.shape))))) for name in "XY"}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(
            QSOFTMAX, QSOFTMAX_PORTABLE, site, inputs, folder=folder, layouts=layouts, flags=build[1:]
        )
    assert np.array_equal(found, QSOFTMAX.reference(site, inputs)[0])


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data())
def test_c_in_tiles(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    site, inputs = case
    cuts = {loop.name: data.draw(st.integers(1, 5)) for loop in QSOFTMAX.access(site).loops}
    (found,) = run_tiled(QSOFTMAX, QSOFTMAX_PORTABLE, site, inputs, cuts=cuts, folder=tmp_path_factory.mktemp("c"))
    assert np.array_equal(found, QSOFTMAX.reference(site, inputs)[0])


def test_the_table_is_trimmed() -> None:
    assert len(exponentials(10, 1.0, 2.0**-8)) < 30
    assert exponentials(10, 50.0, 2.0**-8).tolist() == [2**31]
    assert len(exponentials(10, 0.01, 2.0**-8)) == 256


def test_refusals() -> None:
    x = np.zeros((1, 40_000), np.int8)
    assert "40000" in (refusal(QSOFTMAX_PORTABLE, softmax_site(x, -1, 0.1, 2.0**-8, DType.I8)) or "")
    for x_scale, y_scale in ((0.0, 0.1), (float("nan"), 0.1), (0.1, 2.0**-17), (0.1, 2.0)):
        assert "scale" in (refusal(QSOFTMAX_PORTABLE, softmax_site(x[:, :9], -1, x_scale, y_scale, DType.I8)) or "")
    with pytest.raises(TilewrightError, match="TW1310"):
        softmax_site(x, 2, 0.1, 0.1, DType.I8)


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, 7, 511])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_c_of_the_fixed_point(length: int, dtype: type[np.generic], tmp_path_factory: pytest.TempPathFactory) -> None:
    """`tflm`: rows of all kinds, among them equal values, whose sum is the largest that there is."""
    rng = np.random.default_rng(length)
    limits = np.iinfo(np.int8 if dtype is np.int8 else np.uint8)
    x = rng.integers(limits.min, limits.max + 1, (9, length)).astype(dtype)
    x[0] = limits.max
    attributes: dict[str, Attribute] = {
        "axis": 1, "x_scale": float(np.float32(0.0571)), "y_scale": 1 / 256, "zero_point": -128, "low": -128,
        "high": 127, "rounding": "tflm",
    }  # fmt: skip
    site = site_of(QSOFTMAX, [x], attributes)
    (expected,) = QSOFTMAX.reference(site, [x])
    (found,) = run_kernel(QSOFTMAX, QSOFTMAX_PORTABLE, site, [x], folder=tmp_path_factory.mktemp("c"), flags=UBSAN)
    assert np.array_equal(found, expected)
