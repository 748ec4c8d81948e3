"""Convolutions by streams whose channels come in parts: on this machine in tiles, and on the simulated core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_in_parts
from timing import GVSOC

from tilewright.api.testing import UBSAN, result_errors, run_tiled, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.convolution.conv import CONV, CONV_F32
from tilewright_snitch.kernels.conv import CONV as STREAMS

Array = npt.NDArray[np.generic]
WINDOWS = {"3x3": ((3, 3), 1, 1), "every second": ((3, 3), 2, 1), "1x1": ((1, 1), 1, 0), "wide pads": ((3, 2), 1, 3)}


def layer(
    taps: tuple[int, int], stride: int, pad: int, *, channels: int = 12, outputs: int = 11, size: int = 7,
    bias: bool = True, high: float | None = None,
) -> tuple[Site, list[Array | None]]:  # fmt: skip
    """One image, with Relu."""
    rng = np.random.default_rng(5)
    shapes = ((1, channels, size, size), (outputs, channels, *taps), (outputs,))
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    attributes: dict[str, Attribute] = {
        "kernel_shape": taps, "strides": (stride,) * 2, "dilations": (1, 1), "pads": (pad,) * 4, "group": 1,
        "ceil_mode": 0, "clip_low": 0.0, **({} if high is None else {"clip_high": high}),
    }  # fmt: skip
    inputs = inputs if bias else [*inputs[:2], None]
    return site_of(CONV, inputs, attributes, (1, 2)), inputs


@pytest.mark.slow
@pytest.mark.parametrize("each", [4, 8])
@pytest.mark.parametrize("name", WINDOWS)
def test_without_streams(name: str, each: int, tmp_path: Path) -> None:
    site, inputs = layer(*WINDOWS[name], bias=each == 8)
    how = {"folder": tmp_path, "layouts": layer_of(CONV, STREAMS, site).required, "flags": UBSAN}
    found = run_tiled(CONV, STREAMS, site, inputs, cuts={"c": each, "h": 2, "o": 4}, **how)
    assert result_errors(CONV, site, inputs, found) == []


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False], ids=["joined", "apart"])
@pytest.mark.parametrize("name", WINDOWS)
def test_with_streams(name: str, known: bool, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Taps are neighbours, or, where the program alone knows how many channels there are, each tap is a run."""
    tool("riscv64-unknown-elf-gcc")
    site, inputs = layer(*WINDOWS[name], bias=known == (name in ("3x3", "wide pads")), high=2.0)
    found = run_in_parts(CONV, STREAMS, site, inputs, tmp_path, {"c": (0, 4, 8, 12)}, known=known)
    assert result_errors(CONV, site, inputs, found[-1].outputs) == []
    assert all(one.counts["vfmac.s"] > 0 for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("in_output", [False, True], ids=["of their own", "in the output"])
@pytest.mark.parametrize("what", [np.inf, np.nan])
def test_what_is_infinite_is_clipped_as_every_machine_does(
    what: float, in_output: bool, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """The sums are there to be clipped again, or were not written over."""
    tool("riscv64-unknown-elf-gcc")
    site, inputs = layer((3, 3), 1, 1, high=2.0)
    assert inputs[0] is not None
    inputs[0][0, 3, 2, 2] = what
    found = run_in_parts(CONV, STREAMS, site, inputs, tmp_path, {"c": (0, 4, 12)}, in_output=in_output)
    assert result_errors(CONV, site, inputs, found[-1].outputs) == []


@pytest.mark.slow
def test_as_fast_as_estimated_and_faster_than_portable_c(tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = layer((3, 3), 1, 1, channels=16, outputs=16, size=8)
    whole, cuts = layer_of(CONV, STREAMS, site), {"c": (0, 4, 8, 12, 16)}
    found = run_in_parts(CONV, STREAMS, site, inputs, tmp_path, cuts, timing=GVSOC)
    assert STREAMS.cycles is not None
    estimate = STREAMS.cycles(whole.tile({**whole.whole.box, "c": (0, 4)}))
    assert estimate == pytest.approx(found[1].cycles, rel=0.15)
    plain = run_in_parts(CONV, CONV_F32, site, inputs, tmp_path, cuts, timing=GVSOC)
    assert sum(one.cycles for one in plain) > 4 * sum(one.cycles for one in found)
