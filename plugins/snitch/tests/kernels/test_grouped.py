"""Convolutions of groups by streams: inside the error model on this machine, in tiles that begin and end inside groups,
and on the simulated core."""

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
from tilewright.operators.convolution.conv import CONV, CONV_F32
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright_snitch.kernels.grouped import APART, GROUPED

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

    def __str__(self) -> str:
        return self.name

    @property
    def kernel(self) -> Kernel:
        return APART if self.groups == 1 else GROUPED

    def made(self) -> tuple[Site, list[Array | None]]:
        rng, rank, outputs = np.random.default_rng(3), len(self.image), self.groups * self.outputs
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
        inputs: list[Array | None] = [
            draw(self.batches, self.groups * self.channels, *self.image), draw(outputs, self.channels, *self.taps),
            draw(outputs) if self.bias else None,
        ]  # fmt: skip
        attributes: dict[str, Attribute] = {
            "kernel_shape": self.taps, "strides": (self.stride,) * rank, "dilations": (self.dilation,) * rank,
            "pads": self.pads, "group": self.groups, "ceil_mode": 0,
            **({} if self.low is None else {"clip_low": self.low}),
        }  # fmt: skip
        return site_of(CONV, inputs, attributes, (1, 2)), inputs


CASES = (
    Case("3x3 padded", 3, 4, 5, (6, 7), (3, 3), (1, 1, 1, 1)),
    Case("every second", 2, 6, 8, (7, 9), (3, 3), (1, 1, 1, 1), stride=2, low=None),
    Case("wide pads", 2, 4, 3, (5, 4), (3, 2), (3, 2, 3, 4), bias=False),
    Case("apart", 2, 2, 4, (9, 8), (3, 3), (2, 0, 2, 2), dilation=2),
    Case("1x1", 4, 6, 11, (5, 6), (1, 1), (0, 0, 0, 0), batches=2),
    Case("over time", 2, 8, 6, (20,), (5,), (2, 2)),
    Case("one output of each", 5, 2, 1, (6, 5), (3, 3), (1, 1, 1, 1)),
    Case("dilated, no groups", 1, 4, 9, (9, 8), (3, 3), (2, 2, 2, 2), dilation=2),
    Case("dilated, over time", 1, 6, 10, (30,), (3,), (4, 4), dilation=4),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_without_streams(case: Case, tmp_path: Path) -> None:
    site, inputs = case.made()
    layer = layer_of(CONV, case.kernel, site)
    cuts = random_cuts(layer.access, np.random.default_rng(7))
    how = {"cuts": [cuts], "folder": tmp_path, "layouts": layer.required, "flags": UBSAN}
    for found in run_whole_and_tiled(CONV, case.kernel, site, inputs, **how):
        assert result_errors(CONV, site, inputs, found) == [], cuts


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_with_streams(case: Case, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = case.made()
    found = run_on_iss(CONV, case.kernel, site, inputs, tmp_path)
    assert result_errors(CONV, site, inputs, found.outputs) == []
    assert found.counts["vfmac.s"] > 0


@pytest.mark.parametrize("outputs", [(0, 3), (3, 7), (4, 10), (9, 15)])
def test_tiles_that_begin_and_end_inside_groups(
    outputs: tuple[int, int], tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = CASES[0].made()
    (found,) = run_on_iss(CONV, GROUPED, site, inputs, tmp_path, {"o": outputs}).outputs
    np.testing.assert_allclose(found, CONV.reference(site, inputs)[0][:, slice(*outputs)], rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "box", "times"),
    [
        (Case("eight of each", 4, 8, 8, (16, 16), (3, 3), (1, 1, 1, 1)), {"h": (4, 6)}, 3.5),
        (Case("1x1", 4, 16, 16, (8, 8), (1, 1), (0, 0, 0, 0)), {"h": (0, 2)}, 3.0),
        (Case("four of each", 8, 4, 4, (8, 8), (3, 3), (1, 1, 1, 1)), {"h": (2, 3)}, 1.3),
        (Case("dilated", 1, 32, 32, (64,), (3,), (4, 4), dilation=4), {"o": (0, 16)}, 4.0),
    ],
    ids=str,
)
def test_as_fast_as_estimated_and_faster_than_portable_c(
    case: Case, box: dict[str, tuple[int, int]], times: float, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = case.made()
    layer = layer_of(CONV, case.kernel, site)
    found = run_on_iss(CONV, case.kernel, site, inputs, tmp_path, box)
    assert case.kernel.cycles is not None
    on_gvsoc = run_on_iss(CONV, case.kernel, site, inputs, tmp_path, box, timing=GVSOC)
    assert case.kernel.cycles(layer.tile({**layer.whole.box, **box})) == pytest.approx(on_gvsoc.cycles, rel=0.15)
    assert run_on_iss(CONV, CONV_F32, site, inputs, tmp_path, box).cycles > times * found.cycles


def test_refusals_say_why() -> None:
    odd = Case("three channels", 2, 3, 4, (5, 5), (3, 3), (0, 0, 0, 0)).made()[0]
    assert "two at a time" in str(refusal(GROUPED, odd))
    whole = Case("one group", 1, 4, 4, (5, 5), (3, 3), (0, 0, 0, 0)).made()[0]
    assert "one group" in str(refusal(GROUPED, whole))
    assert "are neighbours" in str(refusal(APART, whole))
    few = Case("two products", 3, 2, 4, (5, 5), (1, 1), (0, 0, 0, 0)).made()[0]
    assert "fewer than two" in str(refusal(GROUPED, few))
