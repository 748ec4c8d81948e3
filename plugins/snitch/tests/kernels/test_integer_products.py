"""QConv and QGemm on the integer core: exact on this machine, in tiles, and on the simulated core; at most three
instructions for a product."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from snitch_run import Executed, run_on_iss
from timing import CLUSTER, GVSOC, Timing

from tilewright.api import align_up
from tilewright.api.testing import (
    UBSAN,
    byte_array,
    make_requant,
    random_cuts,
    refusal,
    site_of,
)
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qgemm import QGEMM, QGEMM_PORTABLE
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright_snitch.kernels.integer_products import CONV, GEMM

Array = npt.NDArray[np.generic]
Case = tuple[Operator, Kernel, Site, list[Array | None], np.random.Generator]
BYTES = (DType.I8, DType.U8)
compiled: Any = settings.get_profile("programs")


@st.composite
def conv_cases(draw: st.DrawFn) -> Case:
    rng, rank = np.random.default_rng(draw(st.integers(0, 2**32))), draw(st.sampled_from([1, 2, 2, 2]))
    x_type, w_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    channels, outputs = draw(st.sampled_from([1, 2, 3, 4, 8, 17])), draw(st.sampled_from([1, 3, 4, 5, 8, 9]))
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    dilations = [draw(st.sampled_from([1, 1, 2])) for _ in range(rank)]
    extents = [(k - 1) * d + 1 + draw(st.integers(0, 6)) for k, d in zip(kernel, dilations, strict=True)]
    saturated = draw(st.booleans())
    x = byte_array(rng, x_type, (draw(st.integers(1, 2)), channels, *extents), saturated)
    w = byte_array(rng, w_type, (outputs, channels, *kernel), saturated)
    bias = rng.integers(-5000, 5000, outputs).astype(np.int32) if draw(st.booleans()) else None
    zero, kind = st.sampled_from([0, *x_type.limits, 3]), draw(st.sampled_from(["random", "ties", "coarse"]))
    attributes: dict[str, Attribute] = {
        "kernel_shape": tuple(kernel), "strides": tuple(draw(st.integers(1, 3)) for _ in range(rank)),
        "dilations": tuple(dilations), "pads": tuple(draw(st.integers(0, 2)) for _ in range(2 * rank)), "group": 1,
        "ceil_mode": 0, "requant": make_requant(rng, outputs, y_type, 255 * 128 * np.sqrt(w[0].size), kind),
        "x_zero_point": draw(zero), "pad_value": draw(zero), "output_type": y_type.value,
        "w_zero_point": (128 if w_type is DType.U8 else 0,),
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, bias]
    return QCONV, CONV, site_of(QCONV, inputs, attributes, (1, 2)), inputs, rng


@st.composite
def gemm_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a_type, b_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    lead = draw(st.sampled_from([(1,), (2,), (3,), (7,), (2, 5), (2, 3, 2), ()]))
    depth, columns = draw(st.sampled_from([1, 4, 12, 15, 33, 64])), draw(st.sampled_from([1, 2, 3, 4, 7, 12]))
    kind = draw(st.sampled_from(["random", "ties", "coarse"]))
    attributes: dict[str, Attribute] = {
        "a_zero_point": draw(st.sampled_from([0, *a_type.limits])), "b_zero_point": (128 if b_type is DType.U8 else 0,),
        "requant": make_requant(rng, columns, y_type, 255 * 128 * np.sqrt(depth), kind), "output_type": y_type.value,
    }  # fmt: skip
    inputs: list[Array | None] = [
        byte_array(rng, a_type, (*lead, depth), draw(st.booleans())),
        byte_array(rng, b_type, (depth, columns), draw(st.booleans())),
        rng.integers(-5000, 5000, columns).astype(np.int32) if draw(st.booleans()) else None,
    ]
    return QGEMM, GEMM, site_of(QGEMM, inputs, attributes, (1, 2)), inputs, rng


@compiled
@given(case=st.one_of(conv_cases(), gemm_cases()))
def test_exact_here_whole_and_in_tiles(case: Case, tmp_path_factory: Any) -> None:
    operator, kernel, site, inputs, rng = case
    assume(refusal(kernel, site) is None)
    layer, (expected,) = layer_of(operator, kernel, site), operator.reference(site, inputs)
    cuts = {
        loop: align_up(size, kernel.multiples.get(loop, 1)) for loop, size in random_cuts(layer.access, rng).items()
    }
    how = {"cuts": [cuts], "folder": tmp_path_factory.mktemp("c"), "layouts": layer.required, "flags": UBSAN}
    for (found,) in run_whole_and_tiled(operator, kernel, site, inputs, **how):
        np.testing.assert_array_equal(found, expected, str(cuts))


@compiled
@given(case=st.one_of(conv_cases(), gemm_cases()))
def test_exact_on_the_core(case: Case, tmp_path_factory: Any, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    operator, kernel, site, inputs, _ = case
    assume(refusal(kernel, site) is None)
    (found,) = run_on_iss(operator, kernel, site, inputs, tmp_path_factory.mktemp("iss")).outputs
    np.testing.assert_array_equal(found, operator.reference(site, inputs)[0])


def conv(channels: int, outputs: int, size: int, side: int) -> tuple[Site, list[Array | None]]:
    rng = np.random.default_rng(1)
    x = byte_array(rng, DType.I8, (1, channels, size, size), False)
    w = byte_array(rng, DType.I8, (outputs, channels, side, side), False)
    requant = make_requant(rng, outputs, DType.I8, 128 * 128 * np.sqrt(w[0].size), "random")
    attributes: dict[str, Attribute] = {
        "kernel_shape": (side, side), "strides": (1, 1), "dilations": (1, 1), "pads": (side // 2,) * 4, "group": 1,
        "ceil_mode": 0, "requant": requant, "x_zero_point": 3, "pad_value": 3,
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, rng.integers(-5000, 5000, outputs).astype(np.int32)]
    return site_of(QCONV, inputs, attributes, (1, 2)), inputs


def gemm(rows: int, depth: int, columns: int) -> tuple[Site, list[Array | None]]:
    rng = np.random.default_rng(1)
    a, b = (byte_array(rng, DType.I8, shape, False) for shape in ((rows, depth), (depth, columns)))
    requant = make_requant(rng, columns, DType.I8, 128 * 128 * np.sqrt(depth), "random")
    inputs: list[Array | None] = [a, b, rng.integers(-5000, 5000, columns).astype(np.int32)]
    return site_of(QGEMM, inputs, {"requant": requant, "a_zero_point": 3}, (1, 2)), inputs


def executed(
    operator: Operator, kernel: Kernel, made: tuple[Site, list[Array | None]], folder: Path, timing: Timing = GVSOC
) -> Executed:
    """The kernel over everything, its result exact."""
    site, inputs = made
    found = run_on_iss(operator, kernel, site, inputs, folder, timing=timing)
    np.testing.assert_array_equal(found.outputs[0], operator.reference(site, inputs)[0])
    return found


LAYERS: dict[str, tuple[Operator, Kernel, tuple[Site, list[Array | None]], float]] = {
    "3x3, 16 to 32 at 16x16": (QCONV, CONV, conv(16, 32, 16, 3), 2.9),
    "3x3, 64 to 8 at 4x4": (QCONV, CONV, conv(64, 8, 4, 3), 3.2),
    "3x3, 3 to 16 at 8x8": (QCONV, CONV, conv(3, 16, 8, 3), 4.1),
    "5x5, 1 to 8 at 9x9": (QCONV, CONV, conv(1, 8, 9, 5), 6.5),
    "64x64, eight rows": (QGEMM, GEMM, gemm(8, 64, 64), 3.0),
    "64x64, one row": (QGEMM, GEMM, gemm(1, 64, 64), 3.8),
    "33x7, five rows": (QGEMM, GEMM, gemm(5, 33, 7), 4.8),
}


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
def test_instructions_of_a_product_and_cycles(layer: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """A block executes 2.5; what is above is copying of windows and requantisation. One row shares no weights."""
    tool("riscv64-unknown-elf-gcc")
    operator, kernel, made, most = LAYERS[layer]
    found = executed(operator, kernel, made, tmp_path)
    assert operator.macs is not None and kernel.cycles is not None
    assert found.instructions / operator.macs(made[0]) <= most
    assert kernel.cycles(layer_of(operator, kernel, made[0]).whole) == pytest.approx(found.cycles, rel=0.05)


@pytest.mark.parametrize(("timing", "times"), [(CLUSTER, 1.3), (GVSOC, 1.15)], ids=["cluster", "gvsoc"])
def test_faster_than_portable_c(timing: Timing, times: float, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """GVSoC's multiplier takes five cycles, and both multiply as often."""
    tool("riscv64-unknown-elf-gcc")
    made = gemm(8, 64, 16)
    portable = executed(QGEMM, QGEMM_PORTABLE, made, tmp_path, timing)
    assert portable.cycles > times * executed(QGEMM, GEMM, made, tmp_path, timing).cycles
