"""Pools and means of both instruction sets, in their C forms: equal to the references, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.api.testing import UBSAN, byte_array, make_requant, refusal, run_kernel, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.operators.pooling.pool import MAX_POOL
from tilewright.operators.quantised.qpool import QAVERAGE_POOL, QREDUCE_MEAN
from tilewright_cortexm.kernels import KERNELS

Array = npt.NDArray[np.generic]
Case = tuple[Operator, Site, list[Array | None]]
compiled = settings.get_profile("programs")
BYTES = (DType.I8, DType.U8)
MEANS = ((4, (2, 3)), (3, (2,)), (4, (1, 2)), (3, (1,)), (2, (0,)), (3, (-2,)), (2, (1,)))


def of(op: str) -> list[Kernel]:
    """Those of bytes."""
    return [kernel for kernel in KERNELS if kernel.op == op and not kernel.name.endswith("_f32")]


def limited(draw: st.DrawFn, requant: Requant) -> Requant:
    return replace(requant, low=min(requant.low + 20, requant.high)) if draw(st.booleans()) else requant


@st.composite
def pools(draw: st.DrawFn, op: str) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rank = draw(st.sampled_from([1, 2, 2]))
    x_type = draw(st.sampled_from(BYTES))
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    dilations = [draw(st.integers(1, 2)) for _ in range(rank)]
    pads = [draw(st.integers(0, k - 1)) for k in kernel * 2]
    extents = [(k - 1) * d + 1 + draw(st.integers(0, 6)) for k, d in zip(kernel, dilations, strict=True)]
    channels = draw(st.sampled_from([1, 4, 5, 7, 8, 13, 16, 19]))
    x = byte_array(rng, x_type, (draw(st.integers(1, 2)), channels, *extents), draw(st.booleans()))
    attributes: dict[str, Attribute] = {
        "kernel_shape": tuple(kernel), "strides": tuple(draw(st.integers(1, 3)) for _ in range(rank)),
        "dilations": tuple(dilations), "pads": tuple(pads), "ceil_mode": draw(st.integers(0, 1)),
    }  # fmt: skip
    if op == "MaxPool":
        return MAX_POOL, site_of(MAX_POOL, [x], attributes), [x]
    taps, y_type = int(np.prod(kernel)), draw(st.sampled_from(BYTES))
    requant = limited(draw, make_requant(rng, taps, y_type, 130.0 * taps, draw(st.sampled_from(["random", "ties"]))))
    attributes |= {
        "requant": requant, "x_zero_point": draw(st.sampled_from([x_type.limits[0], 9])),
        "count_include_pad": draw(st.integers(0, 1)), "output_type": y_type.value,
    }  # fmt: skip
    return QAVERAGE_POOL, site_of(QAVERAGE_POOL, [x], attributes), [x]


@st.composite
def means(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rank, axes = draw(st.sampled_from(MEANS))
    x_type, y_type = draw(st.sampled_from(BYTES)), draw(st.sampled_from(BYTES))
    long = draw(st.booleans())  # more than 16-bit sums hold
    shape = tuple(draw(st.sampled_from([17, 20] if long else [1, 4, 5, 9])) for _ in range(rank))
    x = byte_array(rng, x_type, shape, draw(st.booleans()))
    terms = int(np.prod([shape[axis] for axis in axes]))
    attributes: dict[str, Attribute] = {
        "axes": axes, "keepdims": draw(st.integers(0, 1)), "x_zero_point": draw(st.sampled_from([0, -7])),
        "requant": limited(draw, make_requant(rng, 1, y_type, 130.0 * terms, "random")), "output_type": y_type.value,
    }  # fmt: skip
    return QREDUCE_MEAN, site_of(QREDUCE_MEAN, [x], attributes), [x]


def compare(case: Case, kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> None:
    operator, site, inputs = case
    assume(refusal(kernel, site) is None)
    folder, layouts = tmp_path_factory.mktemp("c"), layer_of(operator, kernel, site).required
    (found,) = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, operator.reference(site, inputs)[0])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [*of("MaxPool"), *of("QAveragePool")], ids=lambda kernel: kernel.name)
@compiled
@given(data=st.data())
def test_pools(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, data: st.DataObject) -> None:
    compare(data.draw(pools(kernel.op)), kernel, tmp_path_factory)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", of("QReduceMean"), ids=lambda kernel: kernel.name)
@compiled
@given(data=st.data())
def test_means(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, data: st.DataObject) -> None:
    compare(data.draw(means()), kernel, tmp_path_factory)


@pytest.mark.parametrize("kernel", of("QReduceMean"), ids=lambda kernel: kernel.name)
def test_a_mean_over_an_image_in_either_layout_is_taken(kernel: Kernel) -> None:
    requant = Requant(scale=(0.02,), zero_point=0, low=-128, high=127)
    refused = []
    for shape, axes in (
        ((1, 8, 5, 6), (2, 3)),
        ((2, 7, 8), (1,)),
        ((2, 7, 8), (2,)),
        ((4, 16), (1,)),
        ((1, 8, 5, 6), (1,)),
    ):
        attributes: dict[str, Attribute] = {"axes": axes, "keepdims": 1, "x_zero_point": 0, "requant": requant}
        refused.append(refusal(kernel, site_of(QREDUCE_MEAN, [np.zeros(shape, np.int8)], attributes)))
    assert refused[:3] == [None, None, None]
    assert "reduces axes [1] of 2" in str(refused[3]) and "reduces axes [1] of 4" in str(refused[4])
