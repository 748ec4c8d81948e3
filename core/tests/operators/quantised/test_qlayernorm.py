"""QLayerNormalization: the reference against its definition and against floats, C against the reference."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qlayernorm import (
    LONGEST,
    QLAYERNORM,
    QLAYERNORM_PORTABLE,
    most_bits,
    most_epsilon_bits,
)
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import byte_array, refusal, site_of

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
BUILDS = (("gcc", *UBSAN), ("gcc", *STRICT, "-O2"), ("clang", *STRICT, "-O2"))
TYPES = st.sampled_from([DType.I8, DType.U8, DType.I16, DType.U16])
STEP = 1 / 32  # of a result, in deviations from the mean


def attributes_of(
    n: int, epsilon: float, *, centred: int = 1, axis: int = 1, x_zero_point: int = 0, dtype: DType = DType.I8
) -> dict[str, Attribute]:
    """So that F and A of `numbers_of` mean results in steps of STEP, at zero point 3."""
    bits = most_epsilon_bits(n, epsilon, dtype)
    return {
        "axis": axis, "centred": centred, "x_zero_point": x_zero_point, "epsilon": round(epsilon * 2**bits),
        "epsilon_bits": bits, "bits": most_bits(n), "shift": 12, "low": -128, "high": 127, "output_type": "i8",
    }  # fmt: skip


def numbers_of(n: int, scale: npt.ArrayLike, shift: npt.ArrayLike) -> list[Array]:
    factor = np.rint(np.asarray(scale) / STEP * 2.0 ** (12 + 32 - most_bits(n))).astype(np.int32)
    return [factor, np.rint((np.asarray(shift) / STEP + 3.5) * 2**12 + 0.5).astype(np.int32)]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape, axis, varies = draw(
        st.sampled_from(
            [((3, 8), 1, (1, 8)), ((2, 3, 4), 1, (1, 3, 1)), ((2, 3, 5), 2, (1, 3, 1)), ((4, 6), 0, (4, 6))]
        )
    )
    dtype = draw(TYPES)
    x = byte_array(rng, dtype, shape, draw(st.booleans()))
    n = math.prod(shape[axis:])
    epsilon = draw(st.sampled_from([0.0, 1e-3, 7.0, 1e6]))
    numbers = numbers_of(n, rng.uniform(-1.5, 1.5, varies), rng.uniform(-1, 1, varies))
    zero = draw(st.sampled_from([0, 5, dtype.limits[0]]))
    centred = draw(st.integers(0, 1))
    attributes = attributes_of(n, epsilon, centred=centred, axis=axis, x_zero_point=zero, dtype=dtype)
    inputs: list[Array | None] = [x, *numbers]
    return site_of(QLAYERNORM, inputs, attributes, (1, 2)), inputs


@given(case=cases())
def test_reference_is_its_definition(case: Case) -> None:
    site, (x, factor, addend) = case
    node, n = site.node, math.prod(site.output.shape[site.node.integer("axis") :])
    rows = np.asarray(x).astype(int).reshape(-1, n).tolist()
    factors, addends = (
        np.broadcast_to(np.asarray(each), np.shape(x)).reshape(-1, n).tolist() for each in (factor, addend)
    )
    found = QLAYERNORM.reference(site, [x, factor, addend])[0].reshape(-1, n).tolist()
    for row, scales, shifts, results in zip(rows, factors, addends, found, strict=True):
        d = [value - node.integer("x_zero_point") for value in row]
        mean = sum(d) if node.integer("centred") else 0
        variance = n * sum(value**2 for value in d) - mean**2
        square, s = (variance << node.integer("epsilon_bits")) + node.integer("epsilon"), 0
        while 0 < square < 2**60:
            square, s = square * 4, s + 1
        up = node.integer("bits") + node.integer("epsilon_bits") // 2 + s - 29
        inverse = min(2**61 // math.isqrt(square), 2**31 - 1) // 2 ** max(-up, 0) if variance else 0
        for value, scale, shift, result in zip(d, scales, shifts, results, strict=True):
            moved = (n * value - mean) * 2 ** max(up, 0) if variance else 0
            even = moved * inverse >> 32
            assert abs(moved) < 2**31 and abs(even * scale) < 2**62 and abs((even * scale >> 32) + shift) < 2**31
            y = ((even * scale >> 32) + shift) >> node.integer("shift")
            assert result == min(max(y, node.integer("low")), node.integer("high"))


@pytest.mark.parametrize("n", [2, 3, 64, 1000, LONGEST])
@pytest.mark.parametrize("centred", [0, 1])
def test_results_are_those_of_real_numbers_but_next_to_halves(n: int, centred: int) -> None:
    rng = np.random.default_rng(n)
    rows = [rng.integers(-128, 128, n), np.full(n, -128), np.arange(n) % 2, np.eye(1, n, 1, dtype=int)[0] * 255 - 128]
    x = np.stack(rows).astype(np.int8)
    epsilon = 0.01 * n * n
    numbers = numbers_of(n, np.ones((1, n)), np.zeros((1, n)))
    site = site_of(QLAYERNORM, [x, *numbers], attributes_of(n, epsilon, centred=centred, x_zero_point=-3), (1, 2))
    assert refusal(QLAYERNORM_PORTABLE, site) is None
    d = x.astype(np.float64) + 3
    d -= centred * d.mean(1, keepdims=True)
    real = d / np.sqrt((d * d).mean(1, keepdims=True) + 0.01) / STEP + 3
    (found,) = QLAYERNORM.reference(site, [x, *numbers])
    assert np.abs(found - np.clip(real, -128, 127)).max() <= 0.5 + 2.0**-9


@pytest.mark.parametrize("n", [2, 64, 1000, LONGEST])
@pytest.mark.parametrize("dtype", [DType.I16, DType.U16])
def test_results_of_16_bits_are_those_of_real_numbers_but_next_to_halves(n: int, dtype: DType) -> None:
    rng = np.random.default_rng(n)
    low, high = dtype.limits
    x = np.stack([rng.integers(low, high + 1, n), np.arange(n) % 2, np.eye(1, n, 1, dtype=int)[0] * high])
    x = x.astype(dtype.numpy)
    epsilon, step = 0.01 * n * n, 2.0**-9
    factor = np.full((1, n), 2.0 ** (9 + 8 + 32 - most_bits(n)), np.int32)
    addend = np.full((1, n), 3.5 * 2**8 + 0.5, np.int32)
    limits: dict[str, Attribute] = {"shift": 8, "low": -(2**15), "high": 2**15 - 1, "output_type": "i16"}
    attributes = {**attributes_of(n, epsilon, dtype=dtype), **limits}
    site = site_of(QLAYERNORM, [x, factor, addend], attributes, (1, 2))
    assert refusal(QLAYERNORM_PORTABLE, site) is None
    d = x.astype(np.float64)
    d -= d.mean(1, keepdims=True)
    real = d / np.sqrt((d * d).mean(1, keepdims=True) + 0.01) / step + 3
    (found,) = QLAYERNORM.reference(site, [x, factor, addend])
    assert np.abs(found - np.clip(real, -(2**15), 2**15 - 1)).max() <= 0.5 + 2.0**-6


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject, build: tuple[str, ...]
) -> None:
    site, inputs = case
    assert refusal(QLAYERNORM_PORTABLE, site) is None
    layouts = {name: tuple(data.draw(st.permutations(range(len(site.output.shape))))) for name in "XFAY"}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(
            QLAYERNORM, QLAYERNORM_PORTABLE, site, inputs, folder=folder, layouts=layouts, flags=build[1:]
        )
    assert np.array_equal(found, QLAYERNORM.reference(site, inputs)[0])


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data())
def test_c_in_tiles(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    site, inputs = case
    cuts = {loop.name: data.draw(st.integers(1, 3)) for loop in QLAYERNORM.access(site).loops}
    folder = tmp_path_factory.mktemp("c")
    (found,) = run_tiled(QLAYERNORM, QLAYERNORM_PORTABLE, site, inputs, cuts=cuts, folder=folder)
    assert np.array_equal(found, QLAYERNORM.reference(site, inputs)[0])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bits": 40}, "64 bits"),
        ({"epsilon_bits": 62}, "64 bits"),
        ({"epsilon_bits": 7}, "64 bits"),
        ({"axis": 0}, "two axes"),
    ],
)
def test_what_the_kernel_refuses(changes: dict[str, Attribute], said: str) -> None:
    inputs: list[Array] = [np.zeros((2, 2, 4), np.int8), *numbers_of(4, np.ones((1, 1, 4)), np.zeros((1, 1, 4)))]
    site = site_of(QLAYERNORM, inputs, {**attributes_of(4, 1.0, axis=2), **changes}, (1, 2))
    assert said in str(refusal(QLAYERNORM_PORTABLE, site))


def test_sums_that_may_leave_32_bits_are_refused() -> None:
    factor, addend = numbers_of(4, np.ones((1, 4)), np.zeros((1, 4)))
    inputs: list[Array] = [np.zeros((2, 4), np.int8), factor, addend + np.int32(2**31 - 2**28)]
    assert "no room" in str(refusal(QLAYERNORM_PORTABLE, site_of(QLAYERNORM, inputs, attributes_of(4, 1.0), (1, 2))))


def test_other_shapes_are_model_errors() -> None:
    inputs: list[Array] = [np.zeros((2, 4), np.int8), *numbers_of(4, np.ones(4), np.zeros(4))]
    with pytest.raises(TilewrightError, match="as many axes as X"):
        site_of(QLAYERNORM, inputs, attributes_of(4, 1.0))
