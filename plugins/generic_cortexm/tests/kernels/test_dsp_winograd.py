"""3x3 convolutions by Winograd's transforms, in their C form: equal to the reference, whole and in parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.api.testing import (
    UBSAN,
    byte_array,
    layers_taken,
    make_requant,
    refusal,
    run_kernel,
    run_tiled,
    site_of,
)
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.roundings import DoubleRounding
from tilewright.operators.quantised.qconv import QCONV
from tilewright_cortexm.kernels.dsp_products import KERNELS as OTHERS
from tilewright_cortexm.kernels.dsp_winograd import KERNELS as ALL

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
KERNELS = tuple(kernel for kernel in ALL if kernel.engine == "dsp")
BYTES = (DType.I8, DType.U8)
compiled = settings.get_profile("programs")


def case(
    rng: np.random.Generator, extents: tuple[int, int], channels: int, outputs: int, *, x_type: DType = DType.I8,
    y_type: DType = DType.I8, pads: tuple[int, ...] = (1, 1, 1, 1), batches: int = 1, saturated: bool = False,
    kind: str = "random", **changes: Attribute,
) -> Case:  # fmt: skip
    x = byte_array(rng, x_type, (batches, channels, *extents), saturated)
    w = byte_array(rng, DType.I8, (outputs, channels, 3, 3), saturated)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": pads, "group": 1, "ceil_mode": 0,
        "requant": make_requant(rng, outputs, y_type, 255 * 60 * np.sqrt(9 * channels), kind), "pad_value": 5,
        "x_zero_point": 3, "w_zero_point": (0,), "output_type": y_type.value,
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, rng.integers(-5000, 5000, outputs).astype(np.int32)]
    return site_of(QCONV, inputs, {**attributes, **changes}, (1, 2)), inputs


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    extents = draw(st.integers(4, 9)), draw(st.integers(4, 9))
    pads = tuple(draw(st.integers(0, 2)) for _ in range(4))
    pads = tuple(max(pad, 1) for pad in pads) if min(extents) < 6 else pads
    x_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(2))
    return case(
        rng, extents, draw(st.sampled_from([4, 8, 12, 20])), draw(st.sampled_from([2, 4, 6])), x_type=x_type,
        y_type=y_type, pads=pads, batches=draw(st.integers(1, 2)), saturated=draw(st.booleans()),
        kind=draw(st.sampled_from(["random", "ties", "coarse"])),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@compiled
@given(drawn=cases())
def test_convolutions(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, drawn: Case) -> None:
    site, inputs = drawn
    assert refusal(kernel, site) is None
    folder, layouts = tmp_path_factory.mktemp("c"), layer_of(QCONV, kernel, site).required
    (found,) = run_kernel(QCONV, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


@pytest.mark.parametrize("cuts", [{"h": 1}, {"h": 4}, {"h": 3, "w": 2}, {"h": 5, "w": 6}], ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_parts_of_an_image_are_the_same(kernel: Kernel, cuts: dict[str, int], tmp_path: Path) -> None:
    """Parts have fewer rows or columns than a tile, also where only the program knows how many."""
    site, inputs = case(np.random.default_rng(2), (9, 11), 8, 4)
    layouts = layer_of(QCONV, kernel, site).required
    (found,) = run_tiled(QCONV, kernel, site, inputs, cuts=cuts, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_sums_may_be_rounded_twice(kernel: Kernel, halves: bool, tmp_path: Path) -> None:
    site, inputs = case(np.random.default_rng(3), (7, 6), 4, 4)
    requant = site.node.requant()
    low = requant.low if halves else requant.zero_point
    scale = tuple(min(each, 0.4) for each in requant.scale)
    changed = replace(requant, low=low, scale=scale, rounding=DoubleRounding())
    site = site_of(QCONV, inputs, {**site.node.attributes, "requant": changed}, (1, 2))
    layouts = layer_of(QCONV, kernel, site).required
    (found,) = run_kernel(QCONV, kernel, site, inputs, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


@pytest.mark.parametrize("kernel", [kernel for kernel in ALL if kernel.engine == "cpu"], ids=lambda kernel: kernel.name)
def test_cores_without_the_extension_compute_the_same(kernel: Kernel, tmp_path: Path) -> None:
    for number, (channels, x_type) in enumerate(((4, DType.I8), (36, DType.U8))):
        site, inputs = case(np.random.default_rng(number), (7, 9), channels, 4, x_type=x_type)
        layouts = layer_of(QCONV, kernel, site).required
        (folder := tmp_path / str(number)).mkdir()
        (found,) = run_kernel(QCONV, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
        assert np.array_equal(found, QCONV.reference(site, inputs)[0])


def test_layers_that_are_taken(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {kernel.name: {"same", "4 bits", "2 bits"} for kernel in KERNELS}


@pytest.mark.parametrize(("reason", "changes"), [
    ("no convolution of 3x3", {"pads": (0, 0, 0, 0), "kernel_shape": (1, 1)}),
    ("strides are", {"strides": (2, 1)}), ("dilations", {"dilations": (2, 2)}),
])  # fmt: skip
def test_refusals_say_why(reason: str, changes: dict[str, Attribute]) -> None:
    site, inputs = case(np.random.default_rng(0), (12, 12), 4, 2)
    if "kernel_shape" in changes:
        assert inputs[1] is not None
        inputs = [inputs[0], inputs[1][:, :, :1, :1], inputs[2]]
    changed = site_of(QCONV, inputs, {**site.node.attributes, **changes}, (1, 2))
    assert all(reason in str(refusal(kernel, changed)) for kernel in KERNELS)


def test_shapes_that_are_refused() -> None:
    rng = np.random.default_rng(0)
    for channels, outputs, extents, reason in (
        (6, 2, (8, 8), "has 6 channels and 2 outputs"),
        (4, 3, (8, 8), "has 4 channels and 3 outputs"),
        (4, 2, (8, 1), "tiles of"),
        (104, 2, (8, 8), "scratch"),
    ):
        site, _ = case(rng, extents, channels, outputs)
        assert reason in str(refusal(KERNELS[0], site))


def test_constants_grow_by_what_is_said() -> None:
    site, _ = case(np.random.default_rng(0), (8, 8), 16, 8)
    smaller = layer_of(QCONV, OTHERS[0], site).packed
    for kernel in KERNELS:
        layer = layer_of(QCONV, kernel, site)
        grown = layer.packed["W"].nbytes - smaller["W"].nbytes
        assert kernel.more_constants(layer.site) == grown > 0


def test_larger_tiles_are_expected_to_be_faster() -> None:
    site, _ = case(np.random.default_rng(0), (32, 32), 16, 16)
    four, two, other = (layer_of(QCONV, kernel, site).whole for kernel in (*KERNELS, OTHERS[0]))
    said = [kernel.instructions(tile) for kernel, tile in zip((*KERNELS, OTHERS[0]), (four, two, other), strict=True)
            if kernel.instructions is not None]  # fmt: skip
    assert said == sorted(said) and 2 * said[0] < said[2]
