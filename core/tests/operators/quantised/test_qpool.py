"""QAveragePool and QReduceMean: the references against scalar sums, the C against the references."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant, requantise
from tilewright.operators.quantised.qpool import (
    QAVERAGE_POOL,
    QAVERAGE_POOL_PORTABLE,
    QREDUCE_MEAN,
    QREDUCE_MEAN_PORTABLE,
    pool_requant_form,
)
from tilewright.operators.shared.windows import Windows
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import ROUNDINGS, byte_array, make_requant, refusal, site_of, with_rounding

Array = npt.NDArray[np.generic]
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
compiled = settings.get_profile("programs")
BUILDS = (("gcc", *UBSAN), ("gcc", *STRICT, "-O2"), ("clang", *STRICT, "-O2"))
BYTES = st.sampled_from([DType.I8, DType.U8])
Case = tuple[Operator, Kernel, Site, list[Array | None]]


@st.composite
def pool_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x_type, y_type, rank = draw(BYTES), draw(BYTES), draw(st.sampled_from([1, 2, 2, 3]))
    kernel = [draw(st.integers(1, 3)) for _ in range(rank)]
    pads = [draw(st.integers(0, taps - 1)) for taps in kernel * 2]
    windows = Windows(
        kernel=tuple(kernel), strides=tuple(draw(st.integers(1, 3)) for _ in kernel),
        dilations=tuple(draw(st.integers(1, 2)) for _ in kernel), before=tuple(pads[:rank]), after=tuple(pads[rank:]),
        ceil_mode=draw(st.booleans()),
    )  # fmt: skip
    extents = [reach + draw(st.integers(0, 4)) for reach in windows.reach]
    x = byte_array(rng, x_type, (draw(st.integers(1, 2)), draw(st.integers(1, 6)), *extents), draw(st.booleans()))
    most = int(np.prod(kernel))
    requant = make_requant(rng, most, y_type, 200.0, draw(st.sampled_from(["random", "ties", "coarse"])))
    requant = with_rounding(rng, requant, draw(st.sampled_from(ROUNDINGS)))
    attributes: dict[str, Attribute] = {
        **windows.attributes(), "count_include_pad": int(draw(st.booleans())), "requant": requant,
        "x_zero_point": draw(st.sampled_from([0, *x_type.limits])), "output_type": y_type.value,
    }  # fmt: skip
    inputs: list[Array | None] = [x]
    return QAVERAGE_POOL, QAVERAGE_POOL_PORTABLE, site_of(QAVERAGE_POOL, inputs, attributes), inputs


@st.composite
def mean_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x_type, y_type = draw(BYTES), draw(BYTES)
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    axes = draw(st.lists(st.integers(-len(shape), len(shape) - 1), min_size=1, max_size=3))
    assume(len({axis % len(shape) for axis in axes}) == len(axes))
    x = byte_array(rng, x_type, shape, draw(st.booleans()))
    attributes: dict[str, Attribute] = {
        "axes": tuple(axes), "keepdims": int(draw(st.booleans())), "output_type": y_type.value,
        "requant": with_rounding(
            rng,
            make_requant(rng, 1, y_type, 400.0, draw(st.sampled_from(["random", "ties", "coarse"]))),
            draw(st.sampled_from(ROUNDINGS)),
        ),
        "x_zero_point": draw(st.sampled_from([0, *x_type.limits])),
    }  # fmt: skip
    inputs: list[Array | None] = [x]
    return QREDUCE_MEAN, QREDUCE_MEAN_PORTABLE, site_of(QREDUCE_MEAN, inputs, attributes), inputs


def requantised(requant: Requant, acc: int, count: int) -> int:
    if requant.rounding.name != "onnx":
        return int(requantise(np.array([acc]), requant.of_channels([max(count, 1) - 1]), 0)[0])
    scale = requant.scale[count - 1 if len(requant.scale) > 1 and count else 0]
    moved = round(float(np.float32(np.float32(acc) * np.float32(scale)))) + requant.zero_point
    return min(max(moved, requant.low), requant.high)


def pooled(site: Site, x: Array, at: tuple[int, ...]) -> int:
    """One output of an average pool, position by position."""
    node, acc, count = site.node, 0, 0
    kernel, rank = node.integers("kernel_shape"), len(at) - 2
    pads, strides, dilations = (node.integers(name) for name in ("pads", "strides", "dilations"))
    for tap in itertools.product(*(range(taps) for taps in kernel)):
        place = [at[2 + i] * strides[i] + tap[i] * dilations[i] - pads[i] for i in range(rank)]
        if all(0 <= p < extent for p, extent in zip(place, x.shape[2:], strict=True)):
            acc, count = acc + int(x[(*at[:2], *place)]) - node.integer("x_zero_point"), count + 1
        elif node.integer("count_include_pad"):
            count += all(p < x.shape[2 + i] + pads[rank + i] for i, p in enumerate(place))
    return requantised(node.requant(), acc, count)


@pytest.mark.slow
@few
@given(case=pool_cases())
def test_pool_reference_is_its_definition(case: Case) -> None:
    _, _, site, inputs = case
    assert inputs[0] is not None
    (found,) = QAVERAGE_POOL.reference(site, inputs)
    for at in np.ndindex(*found.shape):
        assert found[at] == pooled(site, inputs[0], at)


@pytest.mark.slow
@few
@given(case=mean_cases())
def test_mean_reference_is_its_definition(case: Case) -> None:
    _, _, site, inputs = case
    assert inputs[0] is not None
    axes = {axis % inputs[0].ndim for axis in site.node.integers("axes")}
    sums: dict[tuple[int, ...], int] = {}
    for at in np.ndindex(*inputs[0].shape):
        kept = tuple(index for axis, index in enumerate(at) if axis not in axes)
        sums[kept] = sums.get(kept, 0) + int(inputs[0][at]) - site.node.integer("x_zero_point")
    expected = [requantised(site.node.requant(), sums[kept], 1) for kept in sorted(sums)]
    assert QREDUCE_MEAN.reference(site, inputs)[0].reshape(-1).tolist() == expected


@pytest.mark.slow
@compiled
@given(case=st.one_of(pool_cases(), mean_cases()), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject, build: tuple[str, ...]
) -> None:
    operator, kernel, site, inputs = case
    assert refusal(kernel, site) is None
    ranks = {"X": len(site.input(0).shape), "Y": len(site.output.shape)}
    layouts = {name: tuple(data.draw(st.permutations(range(rank)))) for name, rank in ranks.items()}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts, flags=build[1:])
    assert np.array_equal(found, operator.reference(site, inputs)[0])


@pytest.mark.slow
@compiled
@given(case=st.one_of(pool_cases(), mean_cases()), data=st.data())
def test_c_in_tiles(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    operator, kernel, site, inputs = case
    parts = layer_of(operator, kernel, site).sums
    loops = [loop.name for loop in operator.access(site).loops if loop.kind == "parallel"]
    cuts = {loop: data.draw(st.integers(1, 5)) for loop in (*loops, *(parts.loops if parts else ()))}
    (found,) = run_tiled(operator, kernel, site, inputs, cuts=cuts, folder=tmp_path_factory.mktemp("c"))
    assert np.array_equal(found, operator.reference(site, inputs)[0])


def test_scales_must_match_the_counts() -> None:
    x = np.zeros((1, 2, 4, 4), np.int8)
    windows = Windows(kernel=(3, 3), strides=(1, 1), dilations=(1, 1), before=(1, 1), after=(1, 1))
    one = Requant(scale=(0.1,), zero_point=0, low=-128, high=127)
    site = site_of(QAVERAGE_POOL, [x], {**windows.attributes(), "requant": one})
    assert "one scale" in (refusal(QAVERAGE_POOL_PORTABLE, site) or "")
    five = Requant(scale=(0.1,) * 5, zero_point=0, low=-128, high=127)
    site = site_of(QAVERAGE_POOL, [x], {**windows.attributes(), "requant": five})
    assert "5 scales" in (refusal(QAVERAGE_POOL_PORTABLE, site) or "")
    site = site_of(QAVERAGE_POOL, [x], {**windows.attributes(), "requant": one, "count_include_pad": 1})
    assert refusal(QAVERAGE_POOL_PORTABLE, site) is None and len(pool_requant_form(site).words) == 1


def test_wrong_axes_are_model_errors() -> None:
    requant = Requant(scale=(0.1,), zero_point=0, low=-128, high=127)
    with pytest.raises(TilewrightError, match="TW1310"):
        site_of(QREDUCE_MEAN, [np.zeros((2, 3), np.int8)], {"axes": (2,), "requant": requant})


@pytest.mark.parametrize("scales", [1, 35])
def test_one_window_over_everything_in_parts(tmp_path: Path, scales: int) -> None:
    x = np.random.default_rng(5).integers(-128, 128, (1, 6, 7, 5)).astype(np.int8)
    requant = Requant(scale=tuple(0.9 / (count + 1) for count in range(scales)), zero_point=-9, low=-128, high=127)
    windows = Windows(kernel=(7, 5), strides=(1, 1), dilations=(1, 1), before=(0, 0), after=(0, 0))
    attributes = {**windows.attributes(), "count_include_pad": 1, "x_zero_point": 7, "requant": requant}
    site = site_of(QAVERAGE_POOL, [x], attributes)
    (found,) = run_tiled(
        QAVERAGE_POOL, QAVERAGE_POOL_PORTABLE, site, [x], cuts={"c": 4, "y": 2, "x": 4}, folder=tmp_path
    )
    assert np.array_equal(found, QAVERAGE_POOL.reference(site, [x])[0])
