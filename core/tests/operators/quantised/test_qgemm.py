"""QGemm and QMatMul: the references against scalar sums, the C against the references, in layouts and tiles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant, requantise
from tilewright.operators.quantised.qgemm import (
    QGEMM,
    QGEMM_PORTABLE,
    QMATMUL,
    QMATMUL_PORTABLE,
    gemm_bounds,
    matmul_bounds,
)
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import ROUNDINGS, byte_array, make_requant, refusal, site_of, with_rounding

Array = npt.NDArray[np.generic]
few = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
compiled = settings.get_profile("programs")
BUILDS = (("gcc", *UBSAN), ("gcc", *STRICT, "-O2"), ("clang", *STRICT, "-O2"))
BYTES = st.sampled_from([DType.I8, DType.U8])
VALUES = st.sampled_from([DType.I8, DType.U8, DType.I16, DType.U16])
Case = tuple[Site, list[Array | None]]


@st.composite
def gemm_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a_type, b_type, y_type = draw(VALUES), draw(BYTES), draw(VALUES)
    lead, depth, columns = (
        draw(st.lists(st.integers(1, 3), max_size=2)),
        draw(st.integers(1, 40)),
        draw(st.integers(1, 9)),
    )
    saturated = draw(st.booleans())
    a, b = byte_array(rng, a_type, (*lead, depth), saturated), byte_array(rng, b_type, (depth, columns), saturated)
    bias = rng.integers(-9000, 9000, columns).astype(np.int32) if draw(st.booleans()) else None
    kind = draw(st.sampled_from(["random", "ties", "coarse"]))
    attributes: dict[str, Attribute] = {
        "a_zero_point": draw(st.sampled_from([0, *a_type.limits])),
        "b_zero_point": draw(st.sampled_from([(0,), (b_type.limits[1],), tuple(int(z) for z in b[0])])),
        "requant": with_rounding(
            rng,
            make_requant(rng, draw(st.sampled_from([1, columns])), y_type, 2**13 * np.sqrt(depth), kind),
            draw(st.sampled_from(ROUNDINGS)),
        ),
        "output_type": y_type.value,
    }
    inputs: list[Array | None] = [a, b, bias]
    return site_of(QGEMM, inputs, attributes, (1, 2)), inputs


@st.composite
def matmul_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a_type, b_type, y_type = draw(VALUES), draw(VALUES), draw(VALUES)
    lead_a, lead_b = draw(st.sampled_from([((), ()), ((2,), (2,)), ((3, 1), (2,)), ((), (2, 2)), ((2, 1), (1, 3))]))
    rows, depth, columns = draw(st.integers(1, 4)), draw(st.integers(1, 20)), draw(st.integers(1, 9))
    saturated = draw(st.booleans())
    a = byte_array(rng, a_type, (*lead_a, rows, depth), saturated)
    b = byte_array(rng, b_type, (*lead_b, depth, columns), saturated)
    kind = draw(st.sampled_from(["random", "ties", "coarse"]))
    attributes: dict[str, Attribute] = {
        "a_zero_point": draw(st.sampled_from([0, *a_type.limits])),
        "b_zero_point": draw(st.sampled_from([0, *b_type.limits])),
        "requant": with_rounding(
            rng, make_requant(rng, 1, y_type, 2**13 * np.sqrt(depth), kind), draw(st.sampled_from(ROUNDINGS))
        ),
        "output_type": y_type.value,
    }
    inputs: list[Array | None] = [a, b]
    return site_of(QMATMUL, inputs, attributes), inputs


def taken_of(kernel: Kernel, site: Site) -> None:
    """Bytes are always taken; sums of 16-bit values that a rounding has no register for are another test's."""
    reason = refusal(kernel, site)
    assume(reason is None or any(site.input(index).dtype.size_bytes == 2 for index in (0, 1)))
    assert reason is None


def by_scalars(site: Site, inputs: list[Array | None]) -> Array:
    """The definition, element by element."""
    a, b = (np.asarray(array).astype(object) for array in inputs[:2])
    lead = site.output.shape[:-2] if site.node.op == "QMatMul" else ()
    if site.node.op == "QMatMul":
        a, b = np.broadcast_to(a, (*lead, *a.shape[-2:])), np.broadcast_to(b, (*lead, *b.shape[-2:]))
    zero_a, zeros_b = site.node.integer("a_zero_point"), site.node.attributes["b_zero_point"]
    result, requant = np.zeros(site.output.shape, np.int64), site.node.requant()
    for at in np.ndindex(*site.output.shape):
        column = at[-1]
        zero_b = zeros_b if isinstance(zeros_b, int) else zeros_b[column % len(zeros_b)]
        acc = 0 if len(inputs) < 3 or inputs[2] is None else int(inputs[2][column])
        pairs = zip(a[at[:-1]], b[(*at[: len(lead)], slice(None), column)], strict=True)
        acc += sum((x - zero_a) * (w - zero_b) for x, w in pairs)
        if requant.rounding.name != "onnx":
            result[at] = int(requantise(np.array([acc]), requant.of_channels([column]), 0)[0])
            continue
        product = np.float32(np.float32(acc) * np.float32(requant.scales(site.output.shape[-1])[column]))
        result[at] = min(max(round(float(product)) + requant.zero_point, requant.low), requant.high)
    return result


@few
@given(case=st.one_of(gemm_cases(), matmul_cases()))
def test_references_are_their_definitions(case: Case) -> None:
    site, inputs = case
    operator = QGEMM if site.node.op == "QGemm" else QMATMUL
    assert np.array_equal(operator.reference(site, inputs)[0], by_scalars(site, inputs))


@pytest.mark.slow
@compiled
@given(case=st.one_of(gemm_cases(), matmul_cases()), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject, build: tuple[str, ...]
) -> None:
    site, inputs = case
    operator, kernel = (QGEMM, QGEMM_PORTABLE) if site.node.op == "QGemm" else (QMATMUL, QMATMUL_PORTABLE)
    taken_of(kernel, site)
    ranks = {"A": np.ndim(inputs[0]), "B": np.ndim(inputs[1]), "Y": len(site.output.shape)}
    layouts = {name: tuple(data.draw(st.permutations(range(rank)))) for name, rank in ranks.items()}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts, flags=build[1:])
    assert np.array_equal(found, operator.reference(site, inputs)[0])


@pytest.mark.slow
@compiled
@given(case=st.one_of(gemm_cases(), matmul_cases()), data=st.data())
def test_c_in_tiles(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    site, inputs = case
    operator, kernel = (QGEMM, QGEMM_PORTABLE) if site.node.op == "QGemm" else (QMATMUL, QMATMUL_PORTABLE)
    taken_of(kernel, site)
    loops = [loop.name for loop in operator.access(site).loops if loop.kind == "parallel"]
    cuts = {loop: data.draw(st.integers(1, 5)) for loop in (*loops, *data.draw(st.sampled_from([(), ("k",)])))}
    (found,) = run_tiled(operator, kernel, site, inputs, cuts=cuts, folder=tmp_path_factory.mktemp("c"))
    assert np.array_equal(found, operator.reference(site, inputs)[0])


def long_row(depth: int) -> Case:
    a, b = np.full((1, depth), 255, np.uint8), np.full((depth, 1), 255, np.uint8)
    attributes: dict[str, Attribute] = {
        "a_zero_point": 0, "b_zero_point": (0,),
        "requant": Requant(scale=(6e-8,), zero_point=0, low=0, high=255), "output_type": "u8",
    }  # fmt: skip
    return site_of(QGEMM, [a, b], attributes, (1,)), [a, b]


@pytest.mark.parametrize(("depth", "bits"), [(33025, 32), (33026, 64), (66052, 64)])
def test_long_sums_widen(depth: int, bits: int, tmp_path: Path) -> None:
    site, inputs = long_row(depth)
    assert gemm_bounds(site).bits == bits
    (found,) = run_kernel(QGEMM, QGEMM_PORTABLE, site, inputs, folder=tmp_path, flags=UBSAN)
    assert f"_acc{bits}(" in (tmp_path / "kernel.c").read_text()
    assert found.item() == QGEMM.reference(site, inputs)[0].item() > 100


def test_a_matmul_beyond_64_bits_is_refused() -> None:
    a, b = np.zeros((1, 4), np.uint8), np.zeros((4, 1), np.uint8)
    attributes: dict[str, Attribute] = {
        "a_zero_point": 2**60, "b_zero_point": 0, "requant": Requant(scale=(1.0,), zero_point=0, low=0, high=255),
    }  # fmt: skip
    site = site_of(QMATMUL, [a, b], attributes)
    assert matmul_bounds(site).bits > 64
    with pytest.raises(TilewrightError, match="TW3101"):
        refusal(QMATMUL_PORTABLE, site)


def test_wrong_shapes_are_model_errors() -> None:
    a, b = np.zeros((2, 4), np.int8), np.zeros((5, 3), np.int8)
    attributes: dict[str, Attribute] = {"requant": Requant(scale=(1.0,), zero_point=0, low=-128, high=127)}
    for operator in (QGEMM, QMATMUL):
        with pytest.raises(TilewrightError, match="TW1310"):
            site_of(operator, [a, b], attributes)
