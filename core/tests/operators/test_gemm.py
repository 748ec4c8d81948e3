"""Gemm and MatMul: the maps against the references, the C against the references, whole and in tiles, in any layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.access import MapAccess
from tilewright.ir.graph import Attribute, Site
from tilewright.ir.kernel import Kernel
from tilewright.ir.layer import layer_of
from tilewright.ir.operator import Operator
from tilewright.operators.gemm import GEMM, GEMM_F32, GEMM_WEIGHTS_F32, MATMUL, MATMUL_F32, MATMUL_WEIGHTS_F32
from tilewright.testing.kernel_run import run_kernel
from tilewright.testing.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import points, position, refusal, result_errors, site_of, window_errors

Floats = npt.NDArray[np.floating]
Case = tuple[Operator, Kernel, Site, list[Floats | None]]
few = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
compiled = settings(few, max_examples=20)


def floats(draw: st.DrawFn, real: type[np.floating], *shape: int) -> Floats:
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    return random.standard_normal(shape).astype(real)


def either_real(draw: st.DrawFn) -> type[np.floating]:
    real: type[np.floating] = draw(st.sampled_from([np.float32, np.float64]))
    return real


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


cases = st.one_of(gemms(), matmuls())


@few
@given(case=cases)
def test_map_is_the_reference(case: Case) -> None:
    operator, kernel, site, inputs = case
    (expected,) = operator.reference(site, inputs)
    named = {name: array for name, array in zip("ABC", inputs, strict=False) if array is not None}
    layer = layer_of(operator, kernel, site)
    for access, packed in ((operator.access(site), {}), (layer.access, layer.packed)):
        assert isinstance(access, MapAccess)
        access.verify()
        arrays = {**named, **packed}
        factor = 1.0 if "B" in packed else site.node.number("alpha", 1.0)
        bias_factor = 1.0 if "C" in packed else site.node.number("beta", 1.0)
        total = np.zeros(site.output.shape)
        for point in points(access):
            at, a, b = (position(access, name, point) for name in ("Y", "A", "B"))
            total[at] += factor * float(arrays["A"][a]) * float(arrays["B"][b])
            if "C" in arrays and point["k"] == 0:
                total[at] += bias_factor * float(arrays["C"][position(access, "C", point)])
        clipped = np.clip(total, site.node.number("clip_low", -np.inf), site.node.number("clip_high", np.inf))
        np.testing.assert_allclose(clipped, expected, rtol=1e-5, atol=1e-5)


@few
@given(case=cases, data=st.data())
def test_windows_are_hulls(case: Case, data: st.DataObject) -> None:
    operator, _, site, _ = case
    access = operator.access(site)
    assert isinstance(access, MapAccess)
    box = {}
    for loop in access.loops:
        low = data.draw(st.integers(0, loop.extent - 1))
        box[loop.name] = (low, data.draw(st.integers(low + 1, loop.extent)))
    assert window_errors(access, box) == []


@compiled
@given(case=cases, data=st.data())
def test_c_in_any_layout(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    operator, kernel, site, inputs = case
    layer = layer_of(operator, kernel, site)
    ranks = {"A": len(site.input(0).shape), "B": len(site.input(1).shape), "Y": len(site.output.shape)}
    layouts = {name: tuple(data.draw(st.permutations(range(rank)))) for name, rank in ranks.items()}
    if layer.packed:
        del layouts["B"]
    folder = tmp_path_factory.mktemp("c")
    found = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts)
    assert result_errors(operator, site, inputs, found) == []
    cuts = {loop.name: data.draw(st.integers(1, 3)) for loop in operator.access(site).loops if loop.kind == "parallel"}
    found = run_tiled(operator, kernel, site, inputs, cuts=cuts, folder=folder, layouts=layouts)
    assert result_errors(operator, site, inputs, found) == []
    found = run_tiled(operator, kernel, site, inputs, cuts={**cuts, "k": 2}, folder=folder, layouts=layouts)
    assert result_errors(operator, site, inputs, found) == []


def test_float64_is_held_to_its_own_error(tmp_path: Path) -> None:
    """What float32 would lose is far outside."""
    random = np.random.default_rng(3)
    a, b = random.standard_normal((6, 40)), random.standard_normal((40, 5))
    site = site_of(MATMUL, [a, b])
    found = run_kernel(MATMUL, MATMUL_F32, site, [a, b], folder=tmp_path)
    assert found[0].dtype == np.float64
    assert result_errors(MATMUL, site, [a, b], found) == []
    assert result_errors(MATMUL, site, [a, b], [found[0].astype(np.float32).astype(np.float64)])


def test_types_are_not_mixed() -> None:
    a, b = np.ones((2, 3)), np.ones((3, 4), np.float32)
    assert refusal(MATMUL_F32, site_of(MATMUL, [a, b])) == "values must all be f32 or all f64, found f32, f64"


def test_only_one_kernel_takes_a_site() -> None:
    a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    for operator, kernels in ((GEMM, (GEMM_WEIGHTS_F32, GEMM_F32)), (MATMUL, (MATMUL_WEIGHTS_F32, MATMUL_F32))):
        for constants, taken in (((1,), 0), ((), 1)):
            site = site_of(operator, [a, b], {}, constants)
            assert [refusal(kernel, site) is None for kernel in kernels] == [taken == 0, taken == 1]


def test_shapes_and_macs() -> None:
    a, b = np.ones((2, 1, 5, 3), np.float32), np.ones((4, 3, 7), np.float32)
    site = site_of(MATMUL, [a, b])
    assert site.output.shape == (2, 4, 5, 7)
    assert MATMUL.macs(site) == 2 * 4 * 5 * 7 * 3
    site = site_of(GEMM, [np.ones((5, 3), np.float32), np.ones((7, 3), np.float32)], {"transB": 1})
    assert site.output.shape == (5, 7)
    assert GEMM.macs(site) == 5 * 7 * 3


def test_wrong_shapes_are_model_errors() -> None:
    def ones(*shape: int) -> Floats:
        return np.ones(shape, np.float32)

    wrong: list[tuple[Operator, list[Floats | None]]] = [
        (GEMM, [ones(2, 3), ones(4, 5)]),
        (GEMM, [ones(2, 3), ones(3)]),
        (GEMM, [ones(2, 3), ones(3, 5), ones(4)]),
        (GEMM, [ones(2, 3), ones(3, 5), ones(1, 2, 5)]),
        (MATMUL, [ones(2, 3), ones(4, 5)]),
        (MATMUL, [ones(3), ones(3, 5)]),
        (MATMUL, [ones(2, 2, 3), ones(3, 3, 5)]),
    ]
    for operator, inputs in wrong:
        with pytest.raises(TilewrightError) as caught:
            site_of(operator, inputs)
        assert caught.value.code == "TW1310"
