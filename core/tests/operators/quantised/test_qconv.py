"""QConv: the reference against a sum over the index map, the C against the reference, on many sites."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant, requantise
from tilewright.operators.quantised.qconv import QCONV, QCONV_PORTABLE, conv_bounds, conv_requant_form
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import (
    ROUNDINGS,
    byte_array,
    make_requant,
    points,
    position,
    refusal,
    site_of,
    with_rounding,
)

Array = npt.NDArray[np.generic]
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
compiled = settings.get_profile("programs")
BUILDS = (("gcc", *UBSAN), ("gcc", *STRICT, "-O2"), ("clang", *STRICT, "-O2"))
BYTES = (DType.I8, DType.U8)
VALUES = (*BYTES, DType.I16, DType.U16)


@st.composite
def conv_cases(draw: st.DrawFn) -> tuple[Site, list[Array | None]]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rank = draw(st.sampled_from([1, 2, 2]))
    x_type, w_type, y_type = (draw(st.sampled_from(types)) for types in (VALUES, BYTES, VALUES))
    group = draw(st.sampled_from([1, 1, 2, 3, 5]))
    group_inputs = draw(st.sampled_from([1, 2, 3, 8]))
    group_outputs = draw(st.sampled_from([1, 2, 4, 5]))
    kernel = [draw(st.integers(1, 3)) for _ in range(rank)]
    dilations = [draw(st.integers(1, 2)) for _ in range(rank)]
    strides = [draw(st.integers(1, 3)) for _ in range(rank)]
    pads = [draw(st.integers(0, 2)) for _ in range(2 * rank)]
    extents = [(k - 1) * d + 1 + draw(st.integers(0, 4)) for k, d in zip(kernel, dilations, strict=True)]
    outputs = group * group_outputs
    saturated = draw(st.booleans())
    x = byte_array(rng, x_type, (draw(st.integers(1, 2)), group * group_inputs, *extents), saturated)
    w = byte_array(rng, w_type, (outputs, group_inputs, *kernel), saturated)
    kinds = [np.int32, np.int64] if x_type.size_bytes == 2 else [np.int32]
    bias = rng.integers(-5000, 5000, outputs).astype(draw(st.sampled_from(kinds))) if draw(st.booleans()) else None
    if bias is not None and bias.dtype == np.int64 and draw(st.booleans()):
        bias *= 2**24  # more than 32 bits
    ends = st.sampled_from([0, *x_type.limits, 3])
    w_zeros = draw(st.sampled_from([(0,), (w_type.limits[0],), tuple(int(z) for z in w.reshape(outputs, -1)[:, 0])]))
    reach = 2.0 ** (8 * x_type.size_bytes - 8 * y_type.size_bytes) * 255 * 128 * np.sqrt(w[0].size)
    requant = make_requant(rng, outputs, y_type, reach, draw(st.sampled_from(["random", "ties", "coarse"])))
    if draw(st.booleans()):
        requant = replace(requant, scale=requant.scale[:1])
    requant = with_rounding(rng, requant, draw(st.sampled_from(ROUNDINGS)))
    attributes: dict[str, Attribute] = {
        "kernel_shape": tuple(kernel), "strides": tuple(strides), "dilations": tuple(dilations),
        "pads": tuple(pads), "group": group, "ceil_mode": 0, "requant": requant,
        "x_zero_point": draw(ends), "pad_value": draw(ends), "w_zero_point": w_zeros, "output_type": y_type.value,
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, bias]
    return site_of(QCONV, inputs, attributes, (1, 2)), inputs


def sums_by_map(site: Site, access: MapAccess, arrays: dict[str, Array]) -> npt.NDArray[np.int64]:
    """The accumulator, one product at a time, straight from an index map."""
    node, zeros = site.node, site.node.integers("w_zero_point")
    acc = np.zeros(site.output.shape, np.int64)
    if "B" in arrays:
        acc += arrays["B"].astype(np.int64).reshape(-1, *(1,) * (acc.ndim - 2))
    for point in points(access):
        at, weight, target = (position(access, operand, point) for operand in "XWY")
        assert weight is not None and target is not None
        x = node.integer("pad_value") if at is None else int(arrays["X"][at])
        acc[target] += (x - node.integer("x_zero_point")) * (int(arrays["W"][weight]) - zeros[point["o"] % len(zeros)])
    return acc


def formula(acc: npt.NDArray[np.int64], requant: Requant) -> npt.NDArray[np.int64]:
    """The requantisation as the architecture writes it, with scalars; Python's round is half to even."""
    if requant.rounding.name != "onnx":
        return requantise(acc, requant, 1)  # of which `ir/tensors/test_roundings` knows each
    result, scales = np.zeros(acc.shape, np.int64), requant.scales(acc.shape[1])
    for at in np.ndindex(*acc.shape):
        product = np.float32(np.float32(acc[at]) * np.float32(scales[at[1]]))
        result[at] = min(max(round(float(product)) + requant.zero_point, requant.low), requant.high)
    return result


@pytest.mark.slow
@few
@given(case=conv_cases())
def test_reference_is_the_index_map(case: tuple[Site, list[Array | None]]) -> None:
    site, inputs = case
    assume(site.output.elements * site.input(1).elements // site.input(1).shape[0] < 4000)
    named = {name: array for name, array in zip("XWB", inputs, strict=True) if array is not None}
    layer = layer_of(QCONV, QCONV_PORTABLE, site)
    access, packed = QCONV.access(site), layer.access
    assert isinstance(access, MapAccess) and isinstance(packed, MapAccess)
    acc, bounds = sums_by_map(site, access.verify(), named), conv_bounds(site)
    assert np.array_equal(acc, sums_by_map(site, packed.verify(), {**named, **layer.packed}))
    for channel in range(acc.shape[1]):
        assert bounds.lowest[channel] <= acc[:, channel].min() <= acc[:, channel].max() <= bounds.highest[channel]
    assert np.array_equal(QCONV.reference(site, inputs)[0], formula(acc, site.node.requant()))


@pytest.mark.slow
@compiled
@given(case=conv_cases(), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory,
    case: tuple[Site, list[Array | None]],
    data: st.DataObject,
    build: tuple[str, ...],
) -> None:
    site, inputs = case
    taken_of(site)
    layouts = {name: tuple(data.draw(st.permutations(range(len(site.output.shape))))) for name in "XY"}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(QCONV, QCONV_PORTABLE, site, inputs, folder=folder, layouts=layouts, flags=build[1:])
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


@pytest.mark.slow
@compiled
@given(case=conv_cases(), data=st.data())
def test_c_in_tiles(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[Site, list[Array | None]], data: st.DataObject
) -> None:
    site, inputs = case
    taken_of(site)
    cuts = {loop: data.draw(st.integers(1, 5)) for loop in data.draw(st.sampled_from(["nohw", "nohwc"]))}
    layouts = {name: tuple(data.draw(st.permutations(range(len(site.output.shape))))) for name in "XY"}
    folder = tmp_path_factory.mktemp("c")
    (found,) = run_tiled(QCONV, QCONV_PORTABLE, site, inputs, cuts=cuts, folder=folder, layouts=layouts)
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


def taken_of(site: Site) -> None:
    """Bytes are always taken; sums of 16-bit values that a rounding has no register for are another test's."""
    reason = refusal(QCONV_PORTABLE, site)
    assume(reason is None or site.input(0).dtype.size_bytes == 2)
    assert reason is None


def wide_site(bias: int) -> tuple[Site, list[Array | None]]:
    x, w = np.full((1, 64, 3, 3), -128, np.int8), np.full((4, 64, 3, 3), -128, np.int8)
    requant = Requant(scale=(2.0**-24, 2.0**-25, 1e-7, 3e-8), zero_point=0, low=-128, high=127)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "requant": requant
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, np.full(4, bias, np.int32)]
    return site_of(QCONV, inputs, attributes, (1, 2)), inputs


@pytest.mark.slow
@pytest.mark.parametrize(("bias", "bits"), [(0, 32), (2**31 - 1 - 64 * 9 * 2**14, 32), (2**31 - 64 * 9 * 2**14, 64)])
def test_widens_exactly_where_needed(bias: int, bits: int, tmp_path: Path) -> None:
    site, inputs = wide_site(bias)
    assert conv_bounds(site).bits == bits
    (found,) = run_kernel(QCONV, QCONV_PORTABLE, site, inputs, folder=tmp_path, flags=UBSAN)
    assert f"_acc{bits}(" in (tmp_path / "kernel.c").read_text()
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


def test_forms_are_reported_by_channel() -> None:
    site, _ = wide_site(0)
    assert str(conv_requant_form(site)).startswith("channels 0")
    assert len(conv_requant_form(site).words) == 4


def test_refuses_a_negative_scale() -> None:
    x, w = np.zeros((1, 1, 1), np.int8), np.ones((1, 1, 1), np.int8)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (1,), "strides": (1,), "dilations": (1,), "pads": (0, 0),
        "requant": Requant(scale=(-1.0,), zero_point=0, low=-128, high=127),
    }  # fmt: skip
    site = site_of(QCONV, [x, w], attributes, (1,))
    with pytest.raises(TilewrightError, match="TW3102"):
        conv_requant_form(site)


@pytest.mark.slow
@pytest.mark.parametrize(("bias", "kind"), [(7, "int32_t"), (-(2**40), "int64_t")])
def test_a_bias_has_as_many_bits_as_it_needs(bias: int, kind: str, tmp_path: Path) -> None:
    """Values of 16 bits and a bias of 64, as TensorFlow Lite has them."""
    rng = np.random.default_rng(5)
    x = byte_array(rng, DType.I16, (1, 600, 3, 3), True)
    w = byte_array(rng, DType.I8, (4, 600, 1, 1), True)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "output_type": "i16",
        "requant": Requant(scale=(2.0**-19,), zero_point=0, low=-(2**15), high=2**15 - 1),
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, np.full(4, bias, np.int64)]
    site = site_of(QCONV, inputs, attributes, (1, 2))
    assert conv_bounds(site).bits == 64
    (found,) = run_kernel(QCONV, QCONV_PORTABLE, site, inputs, folder=tmp_path, flags=UBSAN)
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])
    assert f"const {kind} *b" in (tmp_path / "kernel.c").read_text()


def test_only_weights_of_8_bits_are_taken() -> None:
    x, w = np.zeros((1, 1, 1), np.int16), np.ones((1, 1, 1), np.int16)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (1,), "strides": (1,), "dilations": (1,), "pads": (0, 0), "output_type": "i16",
        "requant": Requant(scale=(1.0,), zero_point=0, low=-128, high=127),
    }  # fmt: skip
    assert refusal(QCONV_PORTABLE, site_of(QCONV, [x, w], attributes, (1,))) == "weights must be i8 or u8, found i16"
