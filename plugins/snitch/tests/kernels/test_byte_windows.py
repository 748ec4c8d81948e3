"""Convolutions of bytes in the float unit: exact on this machine, in tiles and parts, and on the simulated core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_in_parts, run_on_iss
from timing import GVSOC

from tilewright.api import align_up
from tilewright.api.testing import UBSAN, byte_array, make_requant, random_cuts, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import MultiplyShift
from tilewright.operators.quantised.qconv import QCONV, QCONV_PORTABLE
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright_snitch.kernels.byte_costs import AGAIN_CYCLES
from tilewright_snitch.kernels.byte_windows import CONV, DEPTHWISE
from tilewright_snitch.kernels.integer_products import CONV as INTEGERS

Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Case:
    """A layer; `outputs` is 0 where every channel is one."""

    name: str
    channels: int
    outputs: int
    image: tuple[int, ...]
    taps: tuple[int, ...]
    pads: tuple[int, ...] = ()
    stride: int = 1
    dilations: tuple[int, ...] = ()
    batches: int = 1
    types: tuple[DType, DType] = (DType.I8, DType.I8)
    zero: int = -128
    zero_point: int = 3
    kind: str = "random"
    bias: int = 5000
    shift: int = 0  # where sums are multiplied, added to and shifted

    def __str__(self) -> str:
        return self.name

    @property
    def kernel(self) -> Kernel:
        return CONV if self.outputs else DEPTHWISE

    def made(self) -> tuple[Site, list[Array | None]]:
        rng, rank, outputs = np.random.default_rng(3), len(self.image), self.outputs or self.channels
        x = byte_array(rng, self.types[0], (self.batches, self.channels, *self.image), False)
        w = byte_array(rng, DType.I8, (outputs, self.channels if self.outputs else 1, *self.taps), False)
        requant = make_requant(rng, outputs, self.types[1], 128 * 128 * np.sqrt(w[0].size), self.kind)
        requant = shifted(requant, self.shift, rng) if self.shift else requant
        attributes: dict[str, Attribute] = {
            "kernel_shape": self.taps, "strides": (self.stride,) * rank, "dilations": self.dilations or (1,) * rank,
            "pads": self.pads or (0,) * 2 * rank, "group": 1 if self.outputs else self.channels, "ceil_mode": 0,
            "requant": requant, "x_zero_point": self.zero, "pad_value": self.zero, "output_type": self.types[1].value,
        }  # fmt: skip
        inputs: list[Array | None] = [x, w, rng.integers(-self.bias, self.bias, outputs).astype(np.int32)]
        return site_of(QCONV, inputs, attributes, (1, 2)), inputs


def shifted(requant: Requant, shift: int, rng: np.random.Generator) -> Requant:
    """The nearest multipliers for this shift, and addends of up to twenty results."""
    multiplier = tuple(max(1, round(scale * 2**shift)) for scale in requant.scale)
    addend = tuple(int(each) << shift >> 3 for each in rng.integers(-160, 160, len(multiplier)))
    rounding = MultiplyShift(multiplier=multiplier, addend=addend, shift=(shift,))
    return replace(requant, scale=tuple(each / 2.0**shift for each in multiplier), rounding=rounding)


SAME = (1, 1, 1, 1)
CASES = (
    Case("3x3, shifted", 8, 12, (6, 7), (3, 3), SAME, shift=12, zero_point=0, zero=0, bias=900),
    Case("one tap, shifted", 12, 7, (5, 6), (1, 1), types=(DType.U8, DType.U8), zero=0, shift=14, bias=1),
    Case("depthwise, shifted", 19, 0, (6, 6), (3, 3), SAME, stride=2, zero=0, shift=11, bias=900),
    Case("3x3", 8, 12, (6, 7), (3, 3), SAME),
    Case("one channel", 1, 5, (9, 6), (4, 2), (1, 0, 2, 1), stride=2, zero=83),
    Case("three channels", 3, 9, (7, 6), (3, 3), SAME, stride=2, types=(DType.U8, DType.U8), zero=5),
    Case("one tap, ties", 12, 7, (5, 6), (1, 1), kind="ties"),
    Case("one tap, every second", 8, 4, (5, 6), (1, 1), stride=2, batches=2),
    Case("over time", 4, 6, (40,), (5,), (2, 2)),
    Case("wide pads", 4, 3, (3, 4), (3, 3), (3, 2, 3, 4), kind="coarse"),
    Case("rows apart", 4, 3, (9, 5), (3, 3), (2, 1, 1, 1), dilations=(2, 1)),
    Case("biases beyond exact sums", 6, 8, (4, 4), (3, 3), SAME, bias=1 << 24),
    Case("depthwise", 16, 0, (6, 7), (3, 3), SAME),
    Case("depthwise, odd", 19, 0, (6, 6), (3, 3), SAME, stride=2, types=(DType.U8, DType.I8), zero=128),
    Case("depthwise over time", 6, 0, (20,), (5,), (2, 2), batches=2, kind="ties"),
    Case("depthwise, apart", 4, 0, (9, 8), (3, 3), (2, 0, 2, 2), dilations=(2, 2)),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_exact_here_whole_and_in_tiles(case: Case, tmp_path: Path) -> None:
    site, inputs = case.made()
    layer, (expected,) = layer_of(QCONV, case.kernel, site), QCONV.reference(site, inputs)
    many = [random_cuts(layer.access, np.random.default_rng(seed)) for seed in (7, 8)]
    cuts = [{name: align_up(size, case.kernel.multiples.get(name, 1)) for name, size in one.items()} for one in many]
    how = {"cuts": cuts, "folder": tmp_path, "layouts": layer.required, "flags": UBSAN}
    for (found,) in run_whole_and_tiled(QCONV, case.kernel, site, inputs, **how):
        np.testing.assert_array_equal(found, expected, str(cuts))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_exact_on_the_core(case: Case, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = case.made()
    found = run_on_iss(QCONV, case.kernel, site, inputs, tmp_path)
    np.testing.assert_array_equal(found.outputs[0], QCONV.reference(site, inputs)[0])
    assert found.counts["vfmac.s"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(("side", "known"), [(3, True), (3, False), (1, True)])
def test_exact_in_parts_on_the_core(side: int, known: bool, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = Case("parts", 12, 9, (4, 6), (side, side), (side // 2,) * 4).made()
    parts = run_in_parts(QCONV, CONV, site, inputs, tmp_path, {"c": (0, 4, 12)}, known=known)
    np.testing.assert_array_equal(parts[-1].outputs[0], QCONV.reference(site, inputs)[0])
    assert all(part.counts["vfmac.s"] > 0 for part in parts)


LAYERS = (
    (Case("3x3, 16 to 32", 16, 32, (8, 16), (3, 3), SAME), 10.0),
    (Case("3x3, 64 to 8", 64, 8, (4, 4), (3, 3), SAME), 9.0),
    (Case("3x3, 3 to 16", 3, 16, (8, 16), (3, 3), SAME), 6.0),
    (Case("1x1, 64 to 64", 64, 64, (4, 5), (1, 1)), 8.5),
    (Case("depthwise, 64", 64, 0, (4, 5), (3, 3), SAME), 3.0),
    (Case("depthwise, 16", 16, 0, (4, 32), (3, 3), SAME), 3.5),
)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "times"), LAYERS, ids=str)
def test_as_fast_as_estimated_and_faster_than_the_integer_core(
    case: Case, times: float, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = case.made()
    found = run_on_iss(QCONV, case.kernel, site, inputs, tmp_path, timing=GVSOC)
    assert case.kernel.cycles is not None
    others = QCONV_PORTABLE if case.kernel is DEPTHWISE else INTEGERS
    portable = run_on_iss(QCONV, others, site, inputs, tmp_path, timing=GVSOC).cycles
    estimate = case.kernel.cycles(layer_of(QCONV, case.kernel, site).whole) - AGAIN_CYCLES
    assert portable > times * found.cycles
    assert estimate == pytest.approx(found.cycles, rel=0.15)
