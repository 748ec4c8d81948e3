"""QAffine: the reference against its definition in whole numbers, C against the reference, what is refused."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qaffine import QAFFINE, QAFFINE_PORTABLE
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import byte_array, refusal, site_of

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
BUILDS = (("gcc", *UBSAN), ("gcc", *STRICT, "-O2"), ("clang", *STRICT, "-O2"))
BYTES = st.sampled_from([DType.I8, DType.U8])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = byte_array(rng, draw(BYTES), (2, 3, 4), draw(st.booleans()))
    shape = draw(st.sampled_from([(3, 1), (4,), (1, 3, 4), (2, 1, 1), ()]))
    coarse = draw(st.sampled_from([1, 2**14]))  # so that some sums leave nothing behind the shift
    addend = rng.integers(-(2**28) // coarse, 2**28 // coarse, shape).astype(np.int32) * coarse
    factors = [
        rng.integers(-(2**22) // coarse, 2**22 // coarse, shape).astype(np.int32) * coarse
        for _ in range(draw(st.integers(1, 2)))
    ]
    y_type = draw(BYTES)
    low, high = y_type.limits
    attributes: dict[str, Attribute] = {
        "x_zero_point": draw(st.sampled_from([0, 7, DType.from_numpy(x.dtype).limits[0]])),
        "shift": draw(st.sampled_from([0, 15, 22, 30])), "low": low, "high": high - draw(st.sampled_from([0, 9])),
        "output_type": y_type.value, "ties": draw(st.integers(0, 1)), "zero_point": draw(st.sampled_from([0, 5])),
    }  # fmt: skip
    if draw(st.booleans()):  # 16 bits in 64
        x = byte_array(rng, draw(st.sampled_from([DType.I16, DType.U16])), (2, 3, 4), draw(st.booleans()))
        addend = addend.astype(np.int64) << 20
        attributes |= {"shift": draw(st.sampled_from([0, 30, 40])), "x_zero_point": 7}
    inputs: list[Array | None] = [x, factors[0], addend, *factors[1:]]
    return site_of(QAFFINE, inputs, attributes, tuple(range(1, len(inputs)))), inputs


@given(case=cases())
def test_reference_is_its_definition(case: Case) -> None:
    site, (x, *arrays) = case
    node = site.node
    factor, addend, *below = (np.broadcast_to(np.asarray(array), np.shape(x)).reshape(-1).tolist() for array in arrays)
    for at, value in enumerate(np.asarray(x).reshape(-1).tolist()):
        distance = value - node.integer("x_zero_point")
        slope = below[0][at] if below and distance < 0 else factor[at]
        y, left = divmod(distance * slope + addend[at], 2 ** node.integer("shift"))
        y -= node.integer("ties") and left == 0 and (y - node.integer("zero_point")) % 2
        expected = min(max(y, node.integer("low")), node.integer("high"))
        assert QAFFINE.reference(site, [x, *arrays])[0].reshape(-1)[at] == expected


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject, build: tuple[str, ...]
) -> None:
    site, inputs = case
    assert refusal(QAFFINE_PORTABLE, site) is None
    layouts = {name: tuple(data.draw(st.permutations(range(3)))) for name in "XY"}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(QAFFINE, QAFFINE_PORTABLE, site, inputs, folder=folder, layouts=layouts, flags=build[1:])
    assert np.array_equal(found, QAFFINE.reference(site, inputs)[0])


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data())
def test_c_in_tiles(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    site, inputs = case
    cuts = {loop.name: data.draw(st.integers(1, 3)) for loop in QAFFINE.access(site).loops}
    (found,) = run_tiled(QAFFINE, QAFFINE_PORTABLE, site, inputs, cuts=cuts, folder=tmp_path_factory.mktemp("c"))
    assert np.array_equal(found, QAFFINE.reference(site, inputs)[0])


def affine_site(factor: int, shift: int = 20, constants: tuple[int, ...] = (1, 2)) -> Site:
    inputs = [np.zeros((2, 3), np.int8), np.full((3,), factor, np.int32), np.zeros(3, np.int32)]
    return site_of(QAFFINE, inputs, {"x_zero_point": 0, "shift": shift, "low": -128, "high": 127}, constants)


def test_what_the_kernel_refuses() -> None:
    assert refusal(QAFFINE_PORTABLE, affine_site(2**24 - 1)) is None
    assert "32 bits do not hold" in str(refusal(QAFFINE_PORTABLE, affine_site(2**24)))
    assert "shift" in str(refusal(QAFFINE_PORTABLE, affine_site(1, 31)))
    assert "constants" in str(refusal(QAFFINE_PORTABLE, affine_site(1, 20, ())))


def test_sums_of_each_channel_are_bounded_on_their_own() -> None:
    """A large factor and a large addend never meet in a sum where they are of two channels."""
    factor, addend = np.array([2**24 - 1, 5, 0], np.int32), np.array([0, 2**31 - 1000, 2**31 - 1], np.int32)
    attributes: dict[str, Attribute] = {"x_zero_point": 0, "shift": 20, "low": -128, "high": 127}
    site = site_of(QAFFINE, [np.zeros((2, 3), np.int8), factor, addend], attributes, (1, 2))
    assert refusal(QAFFINE_PORTABLE, site) is None
    more = [np.zeros((2, 3), np.int8), factor + np.int32(3), addend, factor]
    assert "32 bits do not hold" in str(refusal(QAFFINE_PORTABLE, site_of(QAFFINE, more, attributes, (1, 2, 3))))


def test_factors_that_do_not_broadcast_are_model_errors() -> None:
    with pytest.raises(TilewrightError, match="broadcast to X"):
        site_of(QAFFINE, [np.zeros((2, 3), np.int8), np.zeros((2,), np.int32), np.zeros((3,), np.int32)], {})
