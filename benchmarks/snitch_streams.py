"""How much of a Snitch core's float unit kernels use, on the simulated core of plugins/snitch/tests/iss.

    python benchmarks/snitch_streams.py

Needs riscv64-unknown-elf-gcc. A layer's box is the share of one of eight cores; what eight cores wait for is not
counted. Set-up, edges, biases and activations are. The most is two products a cycle of float32, one of float64.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "plugins" / "snitch" / "tests" / "iss"))

from snitch_run import run_on_iss  # noqa: E402

from tilewright.api.testing import site_of  # noqa: E402
from tilewright.ir.dtypes import DType  # noqa: E402
from tilewright.ir.graph import Attribute  # noqa: E402
from tilewright.ir.kernel import Kernel  # noqa: E402
from tilewright.ir.layer import layer_of  # noqa: E402
from tilewright.ir.operator import Operator  # noqa: E402
from tilewright.operators.conv import CONV  # noqa: E402
from tilewright.operators.gemm import GEMM  # noqa: E402
from tilewright.operators.matmul import MATMUL  # noqa: E402
from tilewright_snitch.kernels import conv, products  # noqa: E402

Array = npt.NDArray[np.generic]
RELU: dict[str, Attribute] = {"clip_low": 0.0}


@dataclass(frozen=True)
class Layer:
    """One line of the table."""

    name: str
    operator: Operator
    kernel: Kernel
    inputs: list[Array | None]
    attributes: dict[str, Attribute]
    box: dict[str, tuple[int, int]] = field(default_factory=dict)
    constants: tuple[int, ...] = (1, 2)

    def row(self) -> str:
        """Products, cycles, and what they are of the most."""
        site = site_of(self.operator, self.inputs, self.attributes, self.constants)
        layer = layer_of(self.operator, self.kernel, site)
        box = {**layer.whole.box, **self.box}
        with tempfile.TemporaryDirectory() as folder:
            found = run_on_iss(self.operator, self.kernel, site, self.inputs, Path(folder), self.box)
        share = 1.0
        for loop, (low, high) in self.box.items():
            whole = layer.whole.box[loop]
            share *= (high - low) / (whole[1] - whole[0])
        packed = 2 * (found.counts["vfmul.s"] + found.counts["vfmac.s"])  # none for taps outside
        macs = packed or self.operator.macs(site) * share
        most = 1 if site.output.dtype is DType.F64 else 2
        assert self.kernel.cycles is not None
        estimate, used = self.kernel.cycles(layer.tile(box)), 100 * macs / found.cycles / most
        return (
            f"| {self.name} | {macs:,.0f} | {found.cycles:,} | {macs / found.cycles:.2f} | {used:.0f} % "
            f"| {found.stalls:,} | {estimate:,.0f} |"
        )


def main() -> None:
    """Print the table."""
    print("| layer, one core's share | products | cycles | a cycle | of the most | float unit waits | estimate |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for layer in layers():
        print(layer.row(), flush=True)


def layers() -> Iterator[Layer]:
    """Common shapes."""
    for size in (48, 64):
        pair: list[Array | None] = [real(size // 8, size).astype(np.float64), real(size, size).astype(np.float64)]
        yield Layer(f"float64 product {size}^3", MATMUL, products.MATMUL, pair, {}, constants=())
    for size in (48, 64):
        yield product(f"float32 product {size}^3", size, {})
    yield product("float32 product 64^3, bias and Relu", 64, RELU, bias=True)
    yield convolution("float32 3x3, 16 to 32 at 16x16, Relu", (16, 32, 16, 3), {"h": (4, 6)})
    yield convolution("float32 3x3, 64 to 64 at 8x8, Relu", (64, 64, 8, 3), {"o": (0, 8)})
    yield convolution("float32 1x1, 64 to 64 at 16x16, Relu", (64, 64, 16, 1), {"h": (4, 6)})


def product(name: str, size: int, attributes: dict[str, Attribute], *, bias: bool = False) -> Layer:
    """An eighth of the rows of a product with constant weights."""
    inputs: list[Array | None] = [real(size // 8, size), real(size, size), real(size) if bias else None]
    return Layer(name, GEMM, products.GEMM, inputs, attributes)


def convolution(name: str, shape: tuple[int, int, int, int], box: dict[str, tuple[int, int]]) -> Layer:
    """Some rows of an image, so padded that it keeps its size."""
    inputs, outputs, size, taps = shape
    values: list[Array | None] = [real(1, inputs, size, size), real(outputs, inputs, taps, taps), real(outputs)]
    attributes: dict[str, Attribute] = {
        "kernel_shape": (taps, taps), "strides": (1, 1), "dilations": (1, 1), "pads": (taps // 2,) * 4, "group": 1,
        "ceil_mode": 0, **RELU,
    }  # fmt: skip
    return Layer(name, CONV, conv.CONV, values, attributes, box)


def real(*shape: int) -> Array:
    """Random floats, the same for the same shape."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


if __name__ == "__main__":
    main()
