"""How many instructions and cycles a Snitch core takes for products of bytes, on the simulated core of plugins/snitch.

    python benchmarks/snitch_integers.py

Needs riscv64-unknown-elf-gcc. A layer's box is the share of one of eight cores; set-up, copies of windows and
requantisation are counted, what eight cores wait for is not. Cycles are those of the cluster as it is designed, and
with GVSoC's timing, where a product takes five cycles, for which estimates are made. Products with padding count as
such; portable C leaves them out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "plugins" / "snitch" / "tests" / "iss"))

from snitch_run import run_on_iss
from timing import CLUSTER, GVSOC

from tilewright.api.testing import byte_array, make_requant, site_of
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qconv import QCONV, QCONV_PORTABLE
from tilewright.operators.quantised.qgemm import QGEMM, QGEMM_PORTABLE
from tilewright_snitch.kernels.integer_products import CONV, GEMM

Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Layer:
    """One line of the table; `share`: the part of the layer that the box is."""

    name: str
    operator: Operator
    kernel: Kernel
    portable: Kernel
    inputs: list[Array | None]
    attributes: Mapping[str, Attribute]
    box: Mapping[str, tuple[int, int]]
    share: float

    def row(self) -> str:
        """Figures of a product."""
        site = site_of(self.operator, self.inputs, dict(self.attributes), (1, 2))
        layer = layer_of(self.operator, self.kernel, site)
        with tempfile.TemporaryDirectory() as folder:
            (result, plain), (slower, slow_plain) = (
                [
                    run_on_iss(self.operator, kernel, site, self.inputs, Path(folder), self.box, timing=timing)
                    for kernel in (self.kernel, self.portable)
                ]
                for timing in (CLUSTER, GVSOC)
            )
        assert self.operator.macs is not None and self.kernel.cycles is not None
        count = self.operator.macs(site) * self.share
        estimate = self.kernel.cycles(layer.tile({**layer.whole.box, **self.box}))
        return (
            f"| {self.name} | `{self.kernel.name}` | {count:,.0f} | {result.instructions / count:.2f} "
            f"| {result.cycles / count:.2f} | {slower.cycles / count:.2f} | {estimate / count:.2f} "
            f"| {plain.cycles / result.cycles:.2f} | {slow_plain.cycles / slower.cycles:.2f} |"
        )


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    columns = "products | instructions | cycles | with GVSoC's timing | estimate | portable C | with GVSoC's timing"
    print(f"| layer, one core's share | kernel | {columns} |")
    print(f"| --- | --- | {' | '.join(['---:'] * 7)} |")
    for layer in layers():
        print(layer.row(), flush=True)


def layers() -> Iterator[Layer]:
    """Common shapes."""
    yield convolution("3x3, 16 to 32 at 16x16", (16, 32, 16, 3), {"h": (4, 6)}, 1 / 8)
    yield convolution("3x3, 64 to 64 at 8x8", (64, 64, 8, 3), {"o": (0, 8)}, 1 / 8)
    yield convolution("1x1, 64 to 64 at 16x16", (64, 64, 16, 1), {"h": (4, 6)}, 1 / 8)
    yield convolution("3x3, 3 to 16 at 32x32", (3, 16, 32, 3), {"h": (4, 8)}, 1 / 8)
    yield product("64x64, eight rows", 8)
    yield product("64x64, one row", 1)


def convolution(name: str, shape: tuple[int, int, int, int], box: dict[str, tuple[int, int]], share: float) -> Layer:
    """A part of an image, so padded that it keeps its size."""
    channels, outputs, size, side = shape
    rng = np.random.default_rng(sum(shape))
    weights = byte_array(rng, DType.I8, (outputs, channels, side, side), False)
    inputs: list[Array | None] = [
        byte_array(rng, DType.I8, (1, channels, size, size), False), weights, rng.integers(-999, 999, outputs, np.int32)
    ]  # fmt: skip
    attributes: dict[str, Attribute] = {
        "kernel_shape": (side, side), "strides": (1, 1), "dilations": (1, 1), "pads": (side // 2,) * 4, "group": 1,
        "ceil_mode": 0, "x_zero_point": 3, "pad_value": 3,
        "requant": make_requant(rng, outputs, DType.I8, 2.0**14 * np.sqrt(weights[0].size), "random"),
    }  # fmt: skip
    return Layer(name, QCONV, CONV, QCONV_PORTABLE, inputs, attributes, box, share)


def product(name: str, rows: int) -> Layer:
    """Some rows times a square matrix."""
    rng = np.random.default_rng(rows)
    inputs: list[Array | None] = [
        byte_array(rng, DType.I8, (rows, 64), False), byte_array(rng, DType.I8, (64, 64), False),
        rng.integers(-999, 999, 64, np.int32),
    ]  # fmt: skip
    attributes = {"requant": make_requant(rng, 64, DType.I8, 2.0**17, "random"), "a_zero_point": 3}
    return Layer(name, QGEMM, GEMM, QGEMM_PORTABLE, inputs, attributes, {}, 1.0)


if __name__ == "__main__":
    main()
