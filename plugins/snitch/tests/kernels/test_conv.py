"""Convolutions by streams: inside the error model on this machine, in tiles, and on the simulated core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_on_iss
from timing import GVSOC

from tilewright.api.testing import UBSAN, random_cuts, refusal, result_errors, run_kernel, run_tiled, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.convolution.conv import CONV
from tilewright_snitch.kernels import conv

Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Case:
    """A layer: channels, outputs, image, taps and so on."""

    name: str
    channels: int
    outputs: int
    image: tuple[int, ...]
    taps: tuple[int, ...]
    pads: tuple[int, ...]
    strides: tuple[int, ...] = (1, 1)
    dilations: tuple[int, ...] = (1, 1)
    batches: int = 1
    bias: bool = True
    low: float | None = 0.0

    def __str__(self) -> str:
        return self.name

    def made(self) -> tuple[Site, list[Array | None]]:
        rng = np.random.default_rng(3)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
        inputs: list[Array | None] = [
            draw(self.batches, self.channels, *self.image), draw(self.outputs, self.channels, *self.taps),
            draw(self.outputs) if self.bias else None,
        ]  # fmt: skip
        rank = len(self.image)
        attributes: dict[str, Attribute] = {
            "kernel_shape": self.taps, "strides": self.strides[:rank], "dilations": self.dilations[:rank],
            "pads": self.pads, "group": 1, "ceil_mode": 0, **({} if self.low is None else {"clip_low": self.low}),
        }  # fmt: skip
        return site_of(CONV, inputs, attributes, (1, 2)), inputs


CASES = (
    Case("3x3 padded", 4, 9, (6, 7), (3, 3), (1, 1, 1, 1)),
    Case("every second", 6, 8, (7, 9), (3, 3), (1, 1, 1, 1), strides=(2, 2), low=None),
    Case("wide pads", 4, 5, (5, 4), (3, 2), (3, 2, 3, 4), bias=False),
    Case("rows apart", 4, 4, (9, 6), (3, 3), (2, 0, 2, 0), dilations=(2, 1)),
    Case("1x1", 8, 11, (5, 6), (1, 1), (0, 0, 0, 0), batches=2),
    Case("1x1 every third", 8, 3, (7, 7), (1, 1), (0, 0, 0, 0), strides=(3, 3)),
    Case("over time", 8, 6, (20,), (5,), (2, 2)),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_without_streams(case: Case, tmp_path: Path) -> None:
    site, inputs = case.made()
    layer = layer_of(CONV, conv.CONV, site)
    for number, cuts in enumerate(({}, random_cuts(layer.access, np.random.default_rng(7)))):
        folder = tmp_path / str(number)
        folder.mkdir()
        how = {"folder": folder, "layouts": layer.required, "flags": UBSAN}
        found = (
            run_tiled(CONV, conv.CONV, site, inputs, cuts=cuts, **how)
            if cuts
            else run_kernel(CONV, conv.CONV, site, inputs, **how)
        )
        assert result_errors(CONV, site, inputs, found) == [], cuts


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_with_streams(case: Case, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = case.made()
    found = run_on_iss(CONV, conv.CONV, site, inputs, tmp_path)
    assert result_errors(CONV, site, inputs, found.outputs) == []
    assert found.counts["vfmac.s"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "box", "least"),
    [
        (Case("3x3", 16, 32, (16, 16), (3, 3), (1, 1, 1, 1)), {"h": (4, 6)}, 1.4),
        (Case("1x1", 32, 32, (8, 8), (1, 1), (0, 0, 0, 0)), {"h": (0, 2)}, 1.1),
    ],
    ids=str,
)
def test_as_fast_as_estimated(
    case: Case, box: dict[str, tuple[int, int]], least: float, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """Two rows are a core's share; two products a cycle are the most."""
    tool("riscv64-unknown-elf-gcc")
    site, inputs = case.made()
    layer = layer_of(CONV, conv.CONV, site)
    found = run_on_iss(CONV, conv.CONV, site, inputs, tmp_path, box)
    assert conv.CONV.cycles is not None
    on_gvsoc = run_on_iss(CONV, conv.CONV, site, inputs, tmp_path, box, timing=GVSOC)
    assert conv.CONV.cycles(layer.tile({**layer.whole.box, **box})) == pytest.approx(on_gvsoc.cycles, rel=0.15)
    products = case.channels * case.outputs * case.taps[0] * case.taps[1] * 2 * site.output.shape[-1]
    assert products / found.cycles > least


def test_refusals_say_why() -> None:
    odd = Case("three channels", 3, 4, (5, 5), (3, 3), (0, 0, 0, 0)).made()[0]
    assert "two at a time" in str(refusal(conv.CONV, odd))
    apart = Case("columns apart", 4, 4, (7, 7), (3, 3), (0, 0, 0, 0), dilations=(1, 2)).made()[0]
    assert "no neighbours" in str(refusal(conv.CONV, apart))
