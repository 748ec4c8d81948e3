"""Convolutions of 16-bit floats in groups: as the reference on this machine, in tiles, and on the simulated core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_on_iss
from timing import GVSOC

from tilewright.api.testing import UBSAN, random_cuts, refusal, result_errors, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.convolution.conv import CONV, CONV_F32
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright_snitch.kernels.wide import DEPTHWISE, GROUPED

Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Case:
    """A layer: groups, channels and outputs of each, image, taps and so on."""

    name: str
    groups: int
    channels: int
    outputs: int
    image: tuple[int, ...]
    taps: tuple[int, ...]
    pads: tuple[int, ...]
    stride: int = 1
    dilation: int = 1
    batches: int = 1
    bias: bool = True
    low: float | None = 0.0
    special: float = 0.5

    def __str__(self) -> str:
        return self.name

    @property
    def kernel(self) -> Kernel:
        return DEPTHWISE if self.channels == 1 else GROUPED

    def made(self, dtype: DType) -> tuple[Site, list[Array | None]]:
        rng, rank, outputs = np.random.default_rng(3), len(self.image), self.groups * self.outputs
        shapes = (
            (self.batches, self.groups * self.channels, *self.image),
            (outputs, self.channels, *self.taps),
            (outputs,),
        )
        inputs: list[Array | None] = [rng.standard_normal(shape).astype(dtype.numpy) for shape in shapes]
        assert inputs[0] is not None
        inputs[0].flat[7] = self.special
        attributes: dict[str, Attribute] = {
            "kernel_shape": self.taps, "strides": (self.stride,) * rank, "dilations": (self.dilation,) * rank,
            "pads": self.pads, "group": self.groups, "ceil_mode": 0,
            **({} if self.low is None else {"clip_low": self.low}),
        }  # fmt: skip
        inputs = inputs if self.bias else [*inputs[:2], None]
        return site_of(CONV, inputs, attributes, (1, 2)), inputs


CASES = (
    Case("depthwise", 6, 1, 1, (6, 7), (3, 3), (1, 1, 1, 1)),
    Case("depthwise, every second", 22, 1, 1, (7, 9), (3, 3), (1, 1, 1, 1), stride=2, low=None, bias=False),
    Case("depthwise over time", 8, 1, 1, (20,), (5,), (2, 2), batches=2),
    Case("depthwise, infinite", 4, 1, 1, (5, 6), (3, 3), (1, 1, 1, 1), special=np.inf),
    Case("groups", 3, 4, 5, (6, 7), (3, 3), (1, 1, 1, 1)),
    Case("groups, wide pads", 2, 4, 3, (5, 4), (3, 2), (3, 2, 3, 4), bias=False, low=None),
    Case("groups, apart", 2, 2, 4, (9, 8), (3, 3), (2, 0, 2, 2), dilation=2),
    Case("groups over time", 2, 8, 6, (20,), (5,), (2, 2), stride=2),
    Case("groups, no number", 2, 4, 3, (5, 6), (3, 3), (1, 1, 1, 1), special=np.nan),
)
TYPES = pytest.mark.parametrize("dtype", [DType.F16, DType.BF16], ids=str)


@pytest.mark.slow
@TYPES
@pytest.mark.parametrize("case", CASES, ids=str)
def test_without_streams(case: Case, dtype: DType, tmp_path: Path) -> None:
    site, inputs = case.made(dtype)
    layer = layer_of(CONV, case.kernel, site)
    cuts = [random_cuts(layer.access, np.random.default_rng(seed)) for seed in (7, 8)]
    how = {"cuts": cuts, "folder": tmp_path, "layouts": layer.required, "flags": UBSAN}
    for found in run_whole_and_tiled(CONV, case.kernel, site, inputs, **how):
        assert result_errors(CONV, site, inputs, found) == [], cuts


@pytest.mark.slow
@TYPES
@pytest.mark.parametrize("case", CASES, ids=str)
def test_with_streams(case: Case, dtype: DType, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = case.made(dtype)
    found = run_on_iss(CONV, case.kernel, site, inputs, tmp_path)
    assert result_errors(CONV, site, inputs, found.outputs) == []
    assert found.counts["vfmac.s"] > 0


@pytest.mark.slow
@TYPES
@pytest.mark.parametrize(
    ("case", "times"),
    [
        (Case("depthwise", 32, 1, 1, (4, 16), (3, 3), (1, 1, 1, 1)), 4.0),
        (Case("groups of 8", 4, 8, 8, (4, 16), (3, 3), (1, 1, 1, 1)), 4.0),
    ],
    ids=str,
)
def test_as_fast_as_estimated_and_faster_than_portable_c(
    case: Case, times: float, dtype: DType, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = case.made(dtype)
    found = run_on_iss(CONV, case.kernel, site, inputs, tmp_path, timing=GVSOC)
    assert case.kernel.cycles is not None
    assert case.kernel.cycles(layer_of(CONV, case.kernel, site).whole) == pytest.approx(found.cycles, rel=0.15)
    assert run_on_iss(CONV, CONV_F32, site, inputs, tmp_path, timing=GVSOC).cycles > times * found.cycles


def test_refusals_say_why() -> None:
    single, _ = CASES[0].made(DType.F32)
    assert "must all be f16 or all bf16" in str(refusal(DEPTHWISE, single))
    odd, _ = Case("odd", 5, 1, 1, (5, 6), (3, 3), (1, 1, 1, 1)).made(DType.F16)
    assert "two at a time" in str(refusal(DEPTHWISE, odd))
    groups, _ = CASES[4].made(DType.F16)
    assert "no depthwise convolution" in str(refusal(DEPTHWISE, groups))
    assert "two at a time" in str(refusal(GROUPED, odd))
