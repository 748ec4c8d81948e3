"""Convolutions whose windows are copied first: any channels and taps, on this machine and on the simulated core."""

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
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.convolution.conv import CONV, CONV_F32
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright_snitch.kernels.columns import COLUMNS

Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Case:
    """A layer: channels, outputs, image, taps and so on."""

    name: str
    channels: int
    outputs: int
    image: tuple[int, ...]
    taps: tuple[int, ...]
    pad: int
    stride: int = 1
    dilation: int = 1
    dtype: DType = DType.F32

    def __str__(self) -> str:
        return self.name

    def made(self) -> tuple[Site, list[Array | None]]:
        rng, rank = np.random.default_rng(3), len(self.image)
        inputs: list[Array | None] = [
            rng.standard_normal(shape).astype(self.dtype.numpy)
            for shape in ((1, self.channels, *self.image), (self.outputs, self.channels, *self.taps), (self.outputs,))
        ]
        attributes: dict[str, Attribute] = {
            "kernel_shape": self.taps, "strides": (self.stride,) * rank, "dilations": (self.dilation,) * rank,
            "pads": (self.pad,) * 2 * rank, "group": 1, "ceil_mode": 0, "clip_low": 0.0,
        }  # fmt: skip
        return site_of(CONV, inputs, attributes, (1, 2)), inputs


CASES = (
    Case("three channels", 3, 9, (7, 10), (3, 3), 1),
    Case("one channel, every second", 1, 8, (9, 9), (5, 5), 2, stride=2),
    Case("apart", 4, 3, (9, 8), (3, 2), 1, dilation=2),
    Case("over time", 3, 5, (19,), (4,), 2),
    *(
        case
        for dtype in (DType.F16, DType.BF16)
        for case in (
            Case(f"{dtype.value}, even", 8, 9, (7, 10), (3, 3), 1, dtype=dtype),
            Case(f"{dtype.value}, apart", 3, 4, (9, 8), (3, 2), 1, dilation=2, dtype=dtype),
            Case(f"{dtype.value}, over time", 5, 5, (19,), (4,), 2, stride=2, dtype=dtype),
        )
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_without_streams(case: Case, tmp_path: Path) -> None:
    site, inputs = case.made()
    layer = layer_of(CONV, COLUMNS, site)
    cuts = random_cuts(layer.access, np.random.default_rng(7))
    how = {"cuts": [cuts], "folder": tmp_path, "layouts": layer.required, "flags": UBSAN}
    for found in run_whole_and_tiled(CONV, COLUMNS, site, inputs, **how):
        assert result_errors(CONV, site, inputs, found) == [], cuts


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_with_streams(case: Case, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = case.made()
    found = run_on_iss(CONV, COLUMNS, site, inputs, tmp_path)
    assert result_errors(CONV, site, inputs, found.outputs) == []
    assert found.counts["vfmac.s"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        Case("first layer", 3, 16, (3, 16), (3, 3), 1),
        Case("first layer, f16", 3, 16, (3, 16), (3, 3), 1, dtype=DType.F16),
        Case("more channels, f16", 16, 32, (2, 16), (3, 3), 1, dtype=DType.F16),
        Case("one tap, bf16", 32, 32, (2, 16), (1, 1), 0, dtype=DType.BF16),
    ],
    ids=str,
)
def test_as_fast_as_estimated_and_faster_than_portable_c(
    case: Case, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = case.made()
    found = run_on_iss(CONV, COLUMNS, site, inputs, tmp_path)
    assert COLUMNS.cycles is not None
    on_gvsoc = run_on_iss(CONV, COLUMNS, site, inputs, tmp_path, timing=GVSOC)
    assert COLUMNS.cycles(layer_of(CONV, COLUMNS, site).whole) == pytest.approx(on_gvsoc.cycles, rel=0.15)
    portable = run_on_iss(CONV, CONV_F32, site, inputs, tmp_path)
    assert result_errors(CONV, site, inputs, portable.outputs) == []
    assert portable.cycles > 1.5 * found.cycles


def test_refusals_say_why() -> None:
    site, inputs = Case("three channels", 3, 9, (7, 10), (3, 3), 1).made()
    assert refusal(COLUMNS, site) is None
    assert "must be constants" in str(refusal(COLUMNS, site_of(CONV, inputs, site.node.attributes)))
