"""QAdd and QMul: references against exact fractions, C against the references, with broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tilewright.arithmetic.pair_sums import PAIR_SUMS
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import requantise
from tilewright.operators.quantised.qelementwise import (
    QADD,
    QADD_PORTABLE,
    QMUL,
    QMUL_PORTABLE,
    scaled_sum_of,
)
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import ROUNDINGS, byte_array, make_requant, refusal, site_of, with_rounding

Array = npt.NDArray[np.generic]
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
compiled = settings.get_profile("programs")
BUILDS = (("gcc", *UBSAN), ("gcc", *STRICT, "-O2"), ("clang", *STRICT, "-O2"))
VALUES = st.sampled_from([DType.I8, DType.U8, DType.I16, DType.U16])
SHAPES = (
    ((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (3, 1)), ((1,), (5,)), ((4, 1), (1, 6)), ((), (7,)), ((2, 1, 3), (2, 4, 1))
)  # fmt: skip
Case = tuple[Operator, Kernel, Site, list[Array | None]]
scales = st.one_of(
    st.floats(2.0**-12, 8.0, width=32),
    st.integers(-6, 2).map(lambda e: 2.0**e),
    st.sampled_from([0.75, 1.5, 2.0**-24, 3 * 2.0**-20]),
)


def pairs(draw: st.DrawFn) -> tuple[np.random.Generator, Array, Array]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape_a, shape_b = draw(st.sampled_from(SHAPES))
    saturated = draw(st.booleans())
    return rng, byte_array(rng, draw(VALUES), shape_a, saturated), byte_array(rng, draw(VALUES), shape_b, saturated)


def zero_point(array: Array) -> st.SearchStrategy[int]:
    return st.sampled_from([0, 3, *DType.from_numpy(array.dtype).limits])


@st.composite
def add_cases(draw: st.DrawFn) -> Case:
    _, a, b = pairs(draw)
    narrow = a.itemsize == b.itemsize == 1
    low, high = draw(
        st.sampled_from([(-128, 127), (0, 255), (0, 127), (-20, 90), (-(2**15), 2**15 - 1), (0, 2**16 - 1)])
    )
    y_type = next(each for each in DType if each.is_integer and each.limits[0] <= low and high <= each.limits[1])
    attributes: dict[str, Attribute] = {
        "a_scale": draw(scales), "b_scale": draw(scales) * draw(st.sampled_from([1, -1])), "low": low, "high": high,
        "a_zero_point": draw(zero_point(a)), "b_zero_point": draw(zero_point(b)),
        "zero_point": draw(st.sampled_from([low, high, 1])), "output_type": y_type.value,
        "y_scale": draw(st.sampled_from([1.0, 1.5, 0.375, float(np.float32(0.08))])),
        "rounding": draw(st.sampled_from(["onnx", "onnx", "tflm", "multiply-shift"] if narrow else ["onnx", "tflm"])),
    }  # fmt: skip
    inputs: list[Array | None] = [a, b]
    return QADD, QADD_PORTABLE, site_of(QADD, inputs, attributes), inputs


@st.composite
def mul_cases(draw: st.DrawFn) -> Case:
    rng, a, b = pairs(draw)
    y_type, kind = draw(VALUES), draw(st.sampled_from(["random", "ties", "coarse"]))
    requant = with_rounding(rng, make_requant(rng, 1, y_type, 2.0**14, kind), draw(st.sampled_from(ROUNDINGS)))
    attributes: dict[str, Attribute] = {
        "a_zero_point": draw(zero_point(a)), "b_zero_point": draw(zero_point(b)),
        "requant": requant, "output_type": y_type.value,
    }  # fmt: skip
    inputs: list[Array | None] = [a, b]
    return QMUL, QMUL_PORTABLE, site_of(QMUL, inputs, attributes), inputs


def taken_of(kernel: Kernel, site: Site) -> None:
    """Bytes are always taken; what does not fit 64 bits of 16-bit values is another test's."""
    reason = refusal(kernel, site)
    assume(reason is None or any(site.input(index).dtype.size_bytes == 2 for index in (0, 1)))
    assert reason is None


def one_sum(site: Site) -> Callable[[int, int], int]:
    node = site.node

    def compute(a: int, b: int) -> int:
        if node.rounding != "onnx":
            return int(PAIR_SUMS[node.rounding](scaled_sum_of(site), np.array([a]), np.array([b]))[0])
        total = Fraction(node.number("a_scale")) * (a - node.integer("a_zero_point"))
        total += Fraction(node.number("b_scale")) * (b - node.integer("b_zero_point"))
        moved = round(total / Fraction(node.number("y_scale", 1.0))) + node.integer(
            "zero_point"
        )  # Fraction rounds halves to even
        return min(max(moved, node.integer("low")), node.integer("high"))

    return compute


def one_product(site: Site) -> Callable[[int, int], int]:
    node, requant = site.node, site.node.requant()

    def compute(a: int, b: int) -> int:
        if requant.rounding.name != "onnx":
            product = (a - node.integer("a_zero_point")) * (b - node.integer("b_zero_point"))
            return int(requantise(np.array([product]), requant, 0)[0])
        acc = np.float32((a - node.integer("a_zero_point")) * (b - node.integer("b_zero_point")))
        moved = round(float(np.float32(acc * np.float32(requant.scale[0])))) + requant.zero_point
        return min(max(moved, requant.low), requant.high)

    return compute


@few
@given(case=st.one_of(add_cases(), mul_cases()))
def test_references_are_their_definitions(case: Case) -> None:
    operator, _, site, inputs = case
    compute = one_sum(site) if operator is QADD else one_product(site)
    a, b = np.broadcast_arrays(*(np.asarray(array) for array in inputs))
    expected = [compute(int(x), int(y)) for x, y in zip(a.reshape(-1), b.reshape(-1), strict=True)]
    assert operator.reference(site, inputs)[0].reshape(-1).tolist() == expected


@pytest.mark.slow
@compiled
@given(case=st.one_of(add_cases(), mul_cases()), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject, build: tuple[str, ...]
) -> None:
    operator, kernel, site, inputs = case
    taken_of(kernel, site)
    named = [*zip(operator.inputs, inputs, strict=True), ("Y", np.empty(site.output.shape))]
    layouts = {name: tuple(data.draw(st.permutations(range(np.ndim(array))))) for name, array in named}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts, flags=build[1:])
    assert np.array_equal(found, operator.reference(site, inputs)[0])


@pytest.mark.slow
@compiled
@given(case=st.one_of(add_cases(), mul_cases()), data=st.data())
def test_c_in_tiles(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    operator, kernel, site, inputs = case
    taken_of(kernel, site)
    cuts = {loop.name: data.draw(st.integers(1, 3)) for loop in operator.access(site).loops}
    (found,) = run_tiled(operator, kernel, site, inputs, cuts=cuts, folder=tmp_path_factory.mktemp("c"))
    assert np.array_equal(found, operator.reference(site, inputs)[0])


def every_pair(attributes: dict[str, Attribute]) -> tuple[Site, list[Array | None]]:
    values = np.arange(-128, 128, dtype=np.int8)
    fixed: dict[str, Attribute] = {"a_zero_point": 5, "b_zero_point": -128, "zero_point": -7, "low": -128, "high": 127}
    inputs: list[Array | None] = [values.reshape(-1, 1), values.copy()]
    return site_of(QADD, inputs, {**fixed, **attributes}), inputs


@pytest.mark.slow
@pytest.mark.parametrize(("a_scale", "b_scale", "form"), [
    (0.5, 0.25, "int32"),  # halves everywhere
    (0.5, 1.5, "int32"),
    (float(np.float32(0.70710678)), float(np.float32(0.31830989)), "int32"),  # proved for every pair
    (float(np.float32(0.7)), float(np.float32(0.41)), "int64"),  # many sums within 1e-6 of a half
    (float(np.float32(0.7)), -0.5, ""),
    (float(np.float32(2.0**-20 * 1.37)), float(np.float32(1.9)), ""),
    (2.0**-30, 1.0, "int32"),
    (2.0**-50, 0.5, "int64"),
])  # fmt: skip
def test_every_pair_of_bytes(
    a_scale: float, b_scale: float, form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    site, inputs = every_pair({"a_scale": a_scale, "b_scale": b_scale})
    folder = tmp_path_factory.mktemp("c")
    (found,) = run_kernel(QADD, QADD_PORTABLE, site, inputs, folder=folder, flags=UBSAN)
    compute = one_sum(site)
    expected = [[compute(a, b) for b in range(-128, 128)] for a in range(-128, 128)]
    assert found.tolist() == expected
    assert f"tw_qadd_{form}" in (folder / "kernel.c").read_text()


@pytest.mark.parametrize("flags", [("-O2",), ("-O3",)], ids="".join)
@pytest.mark.parametrize(("a_scale", "b_scale", "a_zero_point", "zero_point"), [
    (1.0, 1.5, -128, -128), (0.75, 0.25, 0, 127), (2.5, 0.5, 5, -128), (1.5, 3.0, 0, -77), (1.0, 1.0, 0, 0),
])  # fmt: skip
def test_vectors_of_a_compiler_compute_what_single_values_do(
    a_scale: float, b_scale: float, a_zero_point: int, zero_point: int, flags: tuple[str, ...],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    """Simple scales make small constants, which gcc 12 narrowed to 16 bits in its vectors, and clamped wrongly."""
    values = np.arange(-128, 128, dtype=np.int8)
    inputs: list[Array | None] = [np.repeat(values, 256), np.tile(values, 256)]
    attributes: dict[str, Attribute] = {
        "a_scale": a_scale, "b_scale": b_scale, "a_zero_point": a_zero_point, "b_zero_point": 0,
        "zero_point": zero_point, "low": -128, "high": 127,
    }  # fmt: skip
    site = site_of(QADD, inputs, attributes)
    strict = tuple(flag for flag in STRICT if flag != "-O1")
    folder = tmp_path_factory.mktemp("c")
    (found,) = run_kernel(QADD, QADD_PORTABLE, site, inputs, folder=folder, flags=(*strict, *flags))
    np.testing.assert_array_equal(found, QADD.reference(site, inputs)[0])


def test_refuses_scales_too_far_apart() -> None:
    site, inputs = every_pair({"a_scale": 0.5, "b_scale": 2.0**-80})
    assert "more than 64 bits" in (refusal(QADD_PORTABLE, site) or "")
    compute = one_sum(site)  # the reference is exact all the same
    assert QADD.reference(site, inputs)[0][200, 9] == compute(72, -119)


@pytest.mark.parametrize("scale", [float("nan"), float("inf")])
def test_refuses_scales_that_are_no_numbers(scale: float) -> None:
    site, _ = every_pair({"a_scale": scale, "b_scale": 1.0})
    with pytest.raises(TilewrightError, match="TW3103"):
        refusal(QADD_PORTABLE, site)


def test_wrong_shapes_are_model_errors() -> None:
    a, b = np.zeros((2, 3), np.int8), np.zeros((4,), np.int8)
    with pytest.raises(TilewrightError, match="TW1310"):
        site_of(QADD, [a, b], {"low": -128, "high": 127})
