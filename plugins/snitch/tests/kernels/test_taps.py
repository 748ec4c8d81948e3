"""Windows of channels by themselves: inside the error model on this machine, in tiles, and on the simulated core."""

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
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.convolution.conv import CONV, CONV_F32
from tilewright.operators.pooling.pool import AVERAGE_POOL, AVERAGE_POOL_F32, MAX_POOL, MAX_POOL_PORTABLE
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright_snitch.kernels.taps import KERNELS

Array = npt.NDArray[np.generic]
OPERATORS = {operator.name: operator for operator in (CONV, AVERAGE_POOL, MAX_POOL)}
OWN = {kernel.op: kernel for kernel in KERNELS}
PORTABLE = {"Conv": CONV_F32, "AveragePool": AVERAGE_POOL_F32, "MaxPool": MAX_POOL_PORTABLE}


@dataclass(frozen=True)
class Case:
    """A layer: operator, channels, image, taps and so on."""

    op: str
    name: str
    channels: int
    image: tuple[int, ...]
    taps: tuple[int, ...]
    pads: tuple[int, ...]
    stride: int = 1
    dilation: int = 1
    padding: int = 0  # whether averages count it
    clip: tuple[tuple[str, float], ...] = ()
    batches: int = 1
    special: float | None = None  # one element of the input

    def __str__(self) -> str:
        return f"{self.op}, {self.name}"

    def made(self) -> tuple[Operator, Kernel, Site, list[Array | None]]:
        rng, rank = np.random.default_rng(3), len(self.image)
        x = rng.standard_normal((self.batches, self.channels, *self.image)).astype(np.float32)
        if self.special is not None:
            x[0, 1, 2, 2] = self.special
        inputs: list[Array | None] = [x]
        attributes: dict[str, Attribute] = {
            "kernel_shape": self.taps, "strides": (self.stride,) * rank, "dilations": (self.dilation,) * rank,
            "pads": self.pads, "ceil_mode": 0, **dict(self.clip),
        }  # fmt: skip
        if self.op == "Conv":
            inputs.append(rng.standard_normal((self.channels, 1, *self.taps)).astype(np.float32))
            inputs.append(rng.standard_normal(self.channels).astype(np.float32) if self.clip else None)
            attributes["group"] = self.channels
        elif self.op == "AveragePool":
            attributes["count_include_pad"] = self.padding
        site = site_of(OPERATORS[self.op], inputs, attributes, tuple(range(1, len(inputs))))
        return OPERATORS[self.op], OWN[self.op], site, inputs


RELU, BOTH = (("clip_low", 0.0),), (("clip_low", -0.5), ("clip_high", 1.0))
CASES = (
    Case("Conv", "3x3", 22, (6, 7), (3, 3), (1, 1, 1, 1), clip=RELU),
    Case("Conv", "every second, apart", 6, (11, 9), (3, 3), (2, 2, 2, 2), stride=2, dilation=2, clip=BOTH),
    Case("Conv", "wide pads", 4, (3, 4), (3, 2), (3, 2, 3, 2)),
    Case("Conv", "over time", 18, (20,), (5,), (2, 2), clip=RELU, batches=2),
    Case("AveragePool", "3x3", 20, (6, 7), (3, 3), (1, 1, 1, 1), clip=RELU),
    Case("AveragePool", "padding counts", 4, (7, 6), (3, 2), (1, 1, 1, 1), stride=2, padding=1),
    Case("AveragePool", "whole", 34, (5, 4), (5, 4), (0, 0, 0, 0)),
    Case("AveragePool", "over time", 4, (9,), (3,), (1, 1), padding=1, clip=BOTH),
    Case("MaxPool", "2x2", 22, (6, 8), (2, 2), (0, 0, 0, 0), stride=2),
    Case("MaxPool", "3x3", 6, (7, 7), (3, 3), (1, 1, 1, 1), stride=2),
    Case("MaxPool", "NaN", 4, (5, 5), (2, 2), (0, 0, 0, 0), special=np.nan),
    Case("MaxPool", "infinite", 4, (5, 5), (2, 2), (0, 0, 0, 0), special=-np.inf),
    Case("Conv", "NaN", 4, (5, 5), (2, 2), (0, 0, 0, 0), special=np.nan, clip=RELU),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_without_streams(case: Case, tmp_path: Path) -> None:
    operator, kernel, site, inputs = case.made()
    layer = layer_of(operator, kernel, site)
    cuts = random_cuts(layer.access, np.random.default_rng(7))
    how = {"cuts": [cuts], "folder": tmp_path, "layouts": layer.required, "flags": UBSAN}
    for found in run_whole_and_tiled(operator, kernel, site, inputs, **how):
        assert result_errors(operator, site, inputs, found) == [], cuts


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_with_streams(case: Case, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    operator, kernel, site, inputs = case.made()
    found = run_on_iss(operator, kernel, site, inputs, tmp_path)
    assert result_errors(operator, site, inputs, found.outputs) == []
    assert found.counts[{"Conv": "vfmac.s", "AveragePool": "vfadd.s", "MaxPool": "vfmax.s"}[case.op]] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "times"),
    [
        (Case("Conv", "3x3", 32, (8, 16), (3, 3), (1, 1, 1, 1), clip=RELU), 4),
        (Case("AveragePool", "whole", 16, (8, 8), (8, 8), (0, 0, 0, 0)), 4),
        (Case("MaxPool", "2x2", 32, (8, 16), (2, 2), (0, 0, 0, 0), stride=2), 3),
    ],
    ids=str,
)
def test_as_fast_as_estimated_and_faster_than_portable_c(
    case: Case, times: float, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    operator, kernel, site, inputs = case.made()
    found = run_on_iss(operator, kernel, site, inputs, tmp_path)
    portable = run_on_iss(operator, PORTABLE[case.op], site, inputs, tmp_path)
    assert kernel.cycles is not None
    on_gvsoc = run_on_iss(operator, kernel, site, inputs, tmp_path, timing=GVSOC)
    assert kernel.cycles(layer_of(operator, kernel, site).whole) == pytest.approx(on_gvsoc.cycles, rel=0.15)
    assert portable.cycles > times * found.cycles


def test_refusals_say_why() -> None:
    operator, kernel, site, _ = Case("Conv", "odd", 3, (5, 5), (3, 3), (0, 0, 0, 0)).made()
    assert "two at a time" in str(refusal(kernel, site))
    operator, kernel, site, inputs = CASES[0].made()
    assert refusal(kernel, site) is None
    assert "must be constants" in str(refusal(kernel, site_of(operator, inputs, site.node.attributes)))
    whole = {**site.node.attributes, "group": 1}
    inputs[1] = np.zeros((22, 22, 3, 3), np.float32)
    assert "no depthwise" in str(refusal(kernel, site_of(operator, inputs, whole, (1, 2))))
