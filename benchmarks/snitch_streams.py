"""How much of a Snitch core's float unit kernels use, on the simulated core of plugins/snitch/tests/iss.

    python benchmarks/snitch_streams.py

Needs riscv64-unknown-elf-gcc. A layer's box is the share of one of eight cores; what eight cores wait for is not
counted. Set-up, edges, biases and activations are. The most is one product a cycle of float64, else two. Layers
without products are counted in elements that they read. Cycles on one port are those with GVSoC's timing (timing.py of
the simulated core), for which estimates are made. The last column is what portable C takes over what this takes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "plugins" / "snitch" / "tests" / "iss"))

from snitch_run import run_on_iss
from timing import GVSOC

from tilewright.api.testing import site_of
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.convolution.conv import CONV, CONV_F32
from tilewright.operators.elementwise import binary, clip, unary
from tilewright.operators.pooling import pool
from tilewright.operators.products import gemm, matmul
from tilewright.operators.products.gemm import GEMM
from tilewright.operators.products.matmul import MATMUL
from tilewright.operators.reductions import layernorm, reduce, softmax
from tilewright_snitch.kernels import (
    column_reductions,
    columns,
    conv,
    elements,
    functions,
    grouped,
    halves,
    lanes,
    products,
    reductions,
    taps,
    wide,
)

Array = npt.NDArray[np.generic]
RELU: dict[str, Attribute] = {"clip_low": 0.0}
FUNCTIONS = ("Exp", "Sigmoid", "Tanh", "Erf", "GeluTanh", "Gelu", "HardSigmoid")


@dataclass(frozen=True)
class Layer:
    """One line of the table."""

    name: str
    operator: Operator
    kernel: Kernel
    inputs: list[Array | None]
    attributes: dict[str, Attribute]
    portable: Kernel
    box: dict[str, tuple[int, int]] = field(default_factory=dict)
    constants: tuple[int, ...] = (1, 2)

    def row(self) -> str:
        """Products, cycles, and what they are of the most."""
        site = site_of(self.operator, self.inputs, self.attributes, self.constants)
        layer = layer_of(self.operator, self.kernel, site)
        box = {**layer.whole.box, **self.box}
        with tempfile.TemporaryDirectory() as folder:
            result = run_on_iss(self.operator, self.kernel, site, self.inputs, Path(folder), self.box)
            slower = run_on_iss(self.operator, self.kernel, site, self.inputs, Path(folder), self.box, timing=GVSOC)
            plain = run_on_iss(self.operator, self.portable, site, self.inputs, Path(folder), self.box)
        share = 1.0
        for loop, (low, high) in self.box.items():
            whole = layer.whole.box[loop]
            share *= (high - low) / (whole[1] - whole[0])
        macs = self.operator.macs(site) if self.operator in (CONV, GEMM, MATMUL) else 0
        work = macs or sum(tensor.elements for tensor in site.inputs if tensor is not None)
        most = 1 if site.output.dtype is DType.F64 else 2
        assert self.kernel.cycles is not None
        count, estimate = work * share, self.kernel.cycles(layer.tile(box))
        if self.kernel in (conv.CONV, grouped.GROUPED, grouped.APART, wide.GROUPED):  # taps outside are none
            count = 2 * (result.counts["vfmul.s"] + result.counts["vfmac.s"])
        used = f"{100 * count / result.cycles / most:.0f} %" if macs else "-"
        return (
            f"| {self.name} | `{self.kernel.name}` | {count:,.0f} | {result.cycles:,} | {count / result.cycles:.2f} "
            f"| {used} | {slower.cycles:,} | {estimate:,.0f} | {plain.cycles / result.cycles:.1f} |"
        )

    def each(self, without: Layer) -> str:
        """Of functions and rows: cycles of an element, also without streams."""
        site = site_of(self.operator, self.inputs, self.attributes, self.constants)
        with tempfile.TemporaryDirectory() as folder:
            result, other, plain = (
                run_on_iss(self.operator, kernel, site, self.inputs, Path(folder)).cycles
                for kernel in (self.kernel, without.kernel, self.portable)
            )
            slower = run_on_iss(self.operator, self.kernel, site, self.inputs, Path(folder), timing=GVSOC).cycles
        count = site.output.elements
        assert self.kernel.cycles is not None
        estimate = self.kernel.cycles(layer_of(self.operator, self.kernel, site).whole)
        return (
            f"| {self.name} | `{self.kernel.name}` | {count:,} | {result:,} | {result / count:.1f} "
            f"| {other / count:.1f} | {slower:,} | {estimate:,.0f} | {plain / result:.1f} |"
        )


def main() -> None:
    """Print the tables."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    heads = "work | cycles | a cycle | of the most | cycles on one port | estimate | portable C"
    print(f"| layer, one core's share | kernel | {heads} |")
    print(f"| --- | --- | {' | '.join(['---:'] * 7)} |")
    for layer in layers():
        print(layer.row(), flush=True)
    heads = "elements | cycles | of an element | without streams | cycles on one port | estimate | portable C"
    print(f"\n| layer | kernel | {heads} |\n| --- | --- | {' | '.join(['---:'] * 7)} |")
    for layer, without in rows():
        print(layer.each(without), flush=True)


def layers() -> Iterator[Layer]:
    """Common shapes."""
    for size in (48, 64):
        pair: list[Array | None] = [real(size // 8, size).astype(np.float64), real(size, size).astype(np.float64)]
        yield Layer(f"float64 product {size}^3", MATMUL, products.MATMUL, pair, {}, matmul.MATMUL_F32, constants=())
    for size in (48, 64):
        yield product(f"float32 product {size}^3, weights", size, {})
    yield product("float32 product 64^3, weights, bias and Relu", 64, RELU, bias=True)
    for size in (48, 64):
        both: list[Array | None] = [real(size // 8, size), real(size, size)]
        yield Layer(
            f"float32 product {size}^3, computed", MATMUL, lanes.MATMUL_F32, both, {}, matmul.MATMUL_F32, constants=()
        )
    yield convolution("float32 3x3, 16 to 32 at 16x16, Relu", (16, 32, 16, 3), {"h": (4, 6)})
    yield convolution("float32 3x3, 64 to 64 at 8x8, Relu", (64, 64, 8, 3), {"o": (0, 8)})
    yield convolution("float32 1x1, 64 to 64 at 16x16, Relu", (64, 64, 16, 1), {"h": (4, 6)})
    for groups, each in ((4, 16), (4, 8), (8, 4)):
        all_of = groups * each
        image: list[Array | None] = [real(1, all_of, 16, 16), real(all_of, each, 3, 3), real(all_of)]
        of_groups = window(3, 1) | {"group": groups} | RELU
        name = f"float32 3x3, {groups} groups of {each} at 16x16, Relu"
        yield Layer(name, CONV, grouped.GROUPED, image, of_groups, CONV_F32, {"h": (4, 6)})
    series: list[Array | None] = [real(1, 32, 256), real(32, 32, 3), real(32)]
    dilated: dict[str, Attribute] = {
        "kernel_shape": (3,), "strides": (1,), "dilations": (4,), "pads": (4, 4), "ceil_mode": 0, "group": 1, **RELU,
    }  # fmt: skip
    name = "float32 3 taps over time, four steps apart, 32 to 32 at 256, Relu"
    yield Layer(name, CONV, grouped.APART, series, dilated, CONV_F32, {"w": (96, 128)})
    yield from channels()
    yield from elementwise()
    for dtype in (DType.F16, DType.BF16):
        yield from of_16_bits(dtype)


def channels() -> Iterator[Layer]:
    """Windows of which every channel is by itself."""
    own = {kernel.op: kernel for kernel in taps.KERNELS}
    padded = window(3, 1) | {"group": 64} | RELU
    values: list[Array | None] = [real(1, 64, 16, 16), real(64, 1, 3, 3), real(64)]
    yield Layer("depthwise 3x3, 64 at 16x16, Relu", CONV, own["Conv"], values, padded, CONV_F32, {"h": (4, 6)})
    image: list[Array | None] = [real(1, 64, 8, 8)]
    whole = window(8, 0) | {"count_include_pad": 0}
    share = {"c": (0, 8)}
    operator, portable = pool.AVERAGE_POOL, pool.AVERAGE_POOL_F32
    yield Layer("average of 8x8, 64 channels", operator, own["AveragePool"], image, whole, portable, share, ())
    image = [real(1, 32, 16, 16)]
    smaller = window(2, 0) | {"strides": (2, 2)}
    operator, portable = pool.MAX_POOL, pool.MAX_POOL_PORTABLE
    yield Layer("maxima of 2x2, 32 at 16x16", operator, own["MaxPool"], image, smaller, portable, {"h": (0, 1)}, ())


def elementwise() -> Iterator[Layer]:
    """One element at a time."""
    own = {kernel.op: kernel for kernel in elements.KERNELS}
    portable = {kernel.op: kernel for kernel in (*binary.KERNELS, *clip.KERNELS)}
    operators = {operator.name: operator for operator in (*binary.OPERATORS, *clip.OPERATORS)}
    for name, op, shapes, attributes in (
        ("sum", "Add", ((32, 64), (32, 64)), {}),
        ("sum, Relu", "Add", ((32, 64), (32, 64)), RELU),
        ("product with a row", "Mul", ((32, 64), (64,)), {}),
        ("product with one value of each row", "Mul", ((8, 256), (8, 1)), {}),
        ("Relu", "Clip", ((32, 64),), {"min": 0.0}),
    ):
        inputs: list[Array | None] = [real(*shape) for shape in shapes]
        yield Layer(f"{name}, 2,048", operators[op], own[op], inputs, dict(attributes), portable[op], constants=())
    reduced = {kernel.op: kernel for kernel in reductions.KERNELS}
    whole = {operator.name: operator for operator in reduce.OPERATORS}
    plain = {kernel.op: kernel for kernel in reduce.KERNELS}
    for name, op in (("sums", "ReduceSum"), ("largest elements", "ReduceMax")):
        values: list[Array | None] = [real(8, 256)]
        last: dict[str, Attribute] = {"axes": (1,), "keepdims": 0}
        yield Layer(f"{name} of 8 rows of 256", whole[op], reduced[op], values, last, plain[op], constants=())
    of_columns = {kernel.op: kernel for kernel in column_reductions.KERNELS}
    for name, op in (("sums", "ReduceSum"), ("largest elements", "ReduceMax")):
        values = [real(128, 16)]
        first: dict[str, Attribute] = {"axes": (0,), "keepdims": 0}
        yield Layer(f"{name} of 16 columns of 128", whole[op], of_columns[op], values, first, plain[op], constants=())


def of_16_bits(dtype: DType) -> Iterator[Layer]:
    """Products and windows whose elements are widened, and four elements at a time."""
    name, own = str(dtype.numpy.name), {kernel.op: kernel for kernel in elements.KERNELS}
    layers = (
        product(f"{name} product 64^3, weights", 64, {}, bias=False),
        convolution(f"{name} 3x3, 16 to 32 at 16x16, Relu", (16, 32, 16, 3), {"h": (4, 6)}),
        convolution(f"{name} 3x3, 3 to 16 at 16x16, Relu", (3, 16, 16, 3), {"h": (4, 6)}),
    )
    for layer, kernel in zip(layers, (halves.GEMM, columns.COLUMNS, columns.COLUMNS), strict=True):
        yield replace(layer, kernel=kernel, inputs=narrowed(layer.inputs, dtype))
    of_each = ("depthwise 3x3, 64", 64, 1, wide.DEPTHWISE), ("3x3, 4 groups of 16", 4, 16, wide.GROUPED)
    for text, groups, each, kernel in of_each:
        image = narrowed([real(1, 64, 16, 16), real(64, each, 3, 3), real(64)], dtype)
        of_groups = window(3, 1) | {"group": groups} | RELU
        yield Layer(f"{name} {text} at 16x16, Relu", CONV, kernel, image, of_groups, CONV_F32, {"h": (4, 6)})
    pair, own_product = narrowed([real(8, 64), real(64, 64)], dtype), halves.MATMUL_COMPUTED
    yield Layer(f"{name} product 64^3, computed", MATMUL, own_product, pair, {}, matmul.MATMUL_F32, constants=())
    add, both = (
        {operator.name: operator for operator in binary.OPERATORS}["Add"],
        narrowed([real(32, 64), real(32, 64)], dtype),
    )
    plain = {kernel.op: kernel for kernel in binary.KERNELS}["Add"]
    for words, attributes in (("", {}), (", Relu", RELU)):
        yield Layer(f"{name} sum{words}, 2,048", add, own["Add"], both, dict(attributes), plain, constants=())


def narrowed(inputs: list[Array | None], dtype: DType) -> list[Array | None]:
    """The same values, rounded to another type."""
    return [None if array is None else array.astype(dtype.numpy) for array in inputs]


def rows() -> Iterator[tuple[Layer, Layer]]:
    """Functions, and whole rows: as they are, and without streams."""
    own = {kernel.op: kernel for kernel in functions.KERNELS}
    alone = replace(functions.DIALECT, streamed=lambda program: None)
    machine = replace(functions.MACHINE, dialect=alone, two_inputs=False)
    loops = {kernel.op: kernel for kernel in functions.function_kernels(machine)}
    families = (unary, softmax, layernorm)
    portable = {kernel.op: kernel for family in families for kernel in family.KERNELS}
    operators = {operator.name: operator for family in families for operator in family.OPERATORS}
    for name, op, shapes in (
        ("Softmax, 4 rows of 128", "Softmax", ((4, 128),)),
        ("LogSoftmax, 4 rows of 128", "LogSoftmax", ((4, 128),)),
        ("LayerNormalization, 4 rows of 128", "LayerNormalization", ((4, 128), (128,), (128,))),
        ("the same, one row of 1,024", "LayerNormalization", ((1, 1024), (1024,), (1024,))),
        ("RMSNormalization, 4 rows of 128", "RMSNormalization", ((4, 128), (128,))),
        *(
            (f"{op}, 512", op, ((4, 128),))
            for op in ("Exp", "Sigmoid", "Tanh", "Erf", "GeluTanh", "Gelu", "HardSigmoid")
        ),
    ):
        inputs: list[Array | None] = [real(*shape) for shape in shapes]
        attributes: dict[str, Attribute] = {"axis": 1} if "Softmax" in op else {}
        layer = Layer(name, operators[op], own[op], inputs, attributes, portable[op], constants=())
        yield layer, replace(layer, kernel=loops[op])


def product(name: str, size: int, attributes: dict[str, Attribute], *, bias: bool = False) -> Layer:
    """An eighth of the rows of a product with constant weights."""
    inputs: list[Array | None] = [real(size // 8, size), real(size, size), real(size) if bias else None]
    return Layer(name, GEMM, products.GEMM, inputs, attributes, gemm.GEMM_WEIGHTS_F32)


def convolution(name: str, shape: tuple[int, int, int, int], box: dict[str, tuple[int, int]]) -> Layer:
    """Some rows of an image, so padded that it keeps its size."""
    inputs, outputs, size, side = shape
    values: list[Array | None] = [real(1, inputs, size, size), real(outputs, inputs, side, side), real(outputs)]
    return Layer(name, CONV, conv.CONV, values, window(side, side // 2) | {"group": 1} | RELU, CONV_F32, box)


def window(side: int, pad: int) -> dict[str, Attribute]:
    """Attributes of square windows."""
    return {
        "kernel_shape": (side, side), "strides": (1, 1), "dilations": (1, 1), "pads": (pad,) * 4, "ceil_mode": 0,
    }  # fmt: skip


def real(*shape: int) -> Array:
    """Random floats, the same for the same shape."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


if __name__ == "__main__":
    main()
