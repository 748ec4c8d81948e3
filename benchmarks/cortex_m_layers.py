"""Runs single quantised layers of many shapes on an emulated Cortex-M core: what each takes for every operation.
Usage: python benchmarks/cortex_m_layers.py [--core m4] [--only conv] [--portable]
       python benchmarks/cortex_m_layers.py --cmsis-nn FOLDER [--cores m4,m55] [--only conv] [--kept FOLDER]

A line is one layer: the kernel that was chosen, its own estimate, executed instructions, and those for every
multiply-accumulate (or, where a layer has none, for every element it reads). Exit status 1 when a step is not what
its reference says.

With --cmsis-nn, a copy of github.com/ARM-software/CMSIS-NN, other layers (`cmsis_nn_layers`) are counted beside its
functions in the same run: a line for each, the one that is farthest behind first, and whether CMSIS-NN gives the same
result. --kept has what was built of it, --json is given all lines.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from tilewright.ir.graphs.graph import Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.plugins import Registry, load_for, load_named
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of
from tilewright.testing.side_by_side import side_by_side

RUNNER = "qemu-cortex-m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One case. `work` is what the instructions are divided by."""

    name: str
    site: Site
    inputs: Sequence[Any]
    work: int


def main() -> int:
    """One Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--core", default="m4")
    parser.add_argument("--only", default="")
    parser.add_argument("--portable", action="store_true")
    parser.add_argument("--cmsis-nn", type=Path, metavar="FOLDER")
    parser.add_argument("--cores", default="m4,m55")
    parser.add_argument("--kept", type=Path, metavar="FOLDER")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.cmsis_nn:
        from cmsis_nn_table import beside

        return beside(arguments)
    chosen = [layer for layer in layers() if arguments.only in layer.name]
    if not chosen:
        parser.error(f"no layer has {arguments.only!r} in its name")
    wrong = 0
    print("| layer | operations | kernel | estimate | instructions | for each |\n|---|---:|---|---:|---:|---:|")
    for layer, kernel, estimate, count, exact in measured(chosen, arguments.core, arguments.portable):
        wrong += not exact
        each = f"{count / layer.work:.3f}{'' if exact else ' WRONG'}"
        print(f"| {layer.name} | {layer.work:,} | {kernel} | {estimate:,.0f} | {count:,} | {each} |")
    return 1 if wrong else 0


def measured(chosen: Sequence[Layer], core: str, portable: bool) -> Iterator[tuple[Layer, str, float, int, bool]]:
    """All of them in one program, run twice: with every value written out, and counted."""
    target = f"cortex-{core}"
    model = side_by_side([(layer.site, layer.inputs) for layer in chosen])
    plan = model.deployment(target, registry=portable_only(load_for(target=target), portable))
    runner = load_named(("runner", RUNNER)).runners[RUNNER]
    with tempfile.TemporaryDirectory() as folder:
        traced = model.run(plan, runner, Path(folder) / "traced", trace=True)
        counted = model.run(plan, runner, Path(folder) / "counted", trace=False)
    exact = {verdict.name: verdict.exact for verdict in model.judge(plan, traced)}
    for layer, node in zip(chosen, model.graph.nodes, strict=True):
        binding = plan.bound.bindings[node.name]
        count = counted.step_counts[node.name]["instructions"]
        yield layer, binding.kernel.name, binding.candidates[0].cycles, count, exact[node.name]


def portable_only(registry: Registry, portable: bool) -> Registry:
    """With `portable`, the same registry without any kernel that is for one target."""
    if not portable:
        return registry
    kept = {name: kernel for name, kernel in registry.kernels.items() if kernel.target == "*"}
    return replace(registry, kernels=MappingProxyType(kept))


def layers() -> Iterator[Layer]:
    """The shapes: common ones, and odd ones that no published network has."""
    yield from convolutions()
    yield from depthwise()
    for rows, depth, columns in ((1, 640, 128), (1, 333, 77), (10, 64, 64), (1, 7, 3)):
        yield gemm(rows, depth, columns)
    for lead, m, k, n in ((4, 32, 16, 32), (2, 32, 32, 33), (1, 7, 5, 9), (1, 32, 64, 64)):
        yield matmul(lead, m, k, n)
    yield pool("QAveragePool", 64, 8, 8, 8, 0)
    yield pool("QAveragePool", 16, 16, 3, 1, 1)
    yield pool("QAveragePool", 13, 16, 2, 2, 0)
    yield pool("MaxPool", 16, 16, 2, 2, 0)
    yield pool("MaxPool", 16, 16, 3, 1, 1)
    yield pool("MaxPool", 13, 15, 3, 2, 1)
    yield mean((1, 64, 8, 8), (2, 3))
    yield mean((1, 32, 48), (1,))
    yield mean((16, 64), (1,))
    for op in ("QAdd", "QMul"):
        for other in ((1, 16, 12, 12), (1, 16, 1, 1), (1, 1, 12, 12), (1, 1, 1, 1)):
            yield pair(op, (1, 16, 12, 12), other)
    yield pair("QAdd", (16, 48), (48,))
    yield lookup((1, 16, 12, 12))
    for shape in ((1, 12), (1, 1000), (32, 48)):
        yield softmax(shape)


def convolutions() -> Iterator[Layer]:
    """Of every input channel, or of groups of them."""
    for inside, outside in ((64, 64), (23, 71), (8, 16)):
        yield conv(f"conv 1x1 {inside}-{outside}", inside, outside, (1, 1), 16)
    for inside, outside in ((16, 16), (3, 16), (1, 8), (13, 19), (64, 32)):
        yield conv(f"conv 3x3 {inside}-{outside}", inside, outside, (3, 3), 16)
    yield conv("conv 3x3 16-32 stride 2", 16, 32, (3, 3), 16, stride=2)
    yield conv("conv 3x3 16-16 dilation 2", 16, 16, (3, 3), 16, dilation=2)
    yield conv("conv 5x5 8-16", 8, 16, (5, 5), 16)
    yield conv("conv 5x5 1-8 stride 2", 1, 8, (5, 5), 32, stride=2)
    yield conv("conv 1x9 16-16", 16, 16, (1, 9), 16)
    yield conv("conv 3x3 16-16 u8", 16, 16, (3, 3), 16, x_type=DType.U8)
    yield conv("conv 1x1 64-64 u8", 64, 64, (1, 1), 16, x_type=DType.U8)
    yield conv("conv 3x3 16-16 4 groups", 16, 16, (3, 3), 16, group=4)
    yield conv("conv 3x3 128-32", 128, 32, (3, 3), 8)
    yield conv("conv 3x3 256-16", 256, 16, (3, 3), 6)


def depthwise() -> Iterator[Layer]:
    """Every channel on its own."""
    for size, stride, channels in ((3, 1, 64), (3, 2, 64), (3, 1, 13), (5, 1, 16), (5, 2, 16), (7, 1, 8)):
        name = f"depthwise {size}x{size} {channels} stride {stride}"
        yield conv(name, channels, channels, (size, size), 16, stride=stride, group=channels)
    yield conv("depthwise 1x9 16", 16, 16, (1, 9), 16, group=16)
    yield conv("depthwise 3x3 16 dilation 2", 16, 16, (3, 3), 16, group=16, dilation=2)
    yield conv("depthwise 3x3 2", 2, 2, (3, 3), 16, group=2)


def drawn(shape: Sequence[int], dtype: DType = DType.I8) -> Any:
    """Random bytes, the same for the same shape."""
    rng = np.random.default_rng(sum(shape) + len(shape))
    low, high = dtype.limits
    return rng.integers(low, high + 1, tuple(shape)).astype(dtype.numpy)


def weights(shape: Sequence[int]) -> Any:
    """Random weights of -127 to 127, as symmetric quantisation gives them."""
    return np.maximum(drawn(shape), -127)


def requant(channels: int, depth: int, low: int = -128) -> Requant:
    """Scales that use the range of the output."""
    scale = 40 / (74 * 74 * np.sqrt(depth)) * np.linspace(0.5, 1.5, channels)
    return Requant(scale=tuple(float(factor) for factor in scale.astype(np.float32)), zero_point=-5, low=low, high=127)


def conv(
    name: str, inside: int, outside: int, kernel: tuple[int, int], size: int, *,
    stride: int = 1, dilation: int = 1, group: int = 1, x_type: DType = DType.I8,
) -> Layer:  # fmt: skip
    """Padded so that a stride of 1 keeps the extent."""
    x, w = drawn((1, inside, size, size), x_type), weights((outside, inside // group, *kernel))
    bias = np.arange(outside, dtype=np.int32) * 31 - 100
    before = [(taps - 1) * dilation // 2 for taps in kernel]
    attributes = {
        "kernel_shape": kernel, "strides": (stride,) * 2, "dilations": (dilation,) * 2, "pads": (*before, *before),
        "ceil_mode": 0, "group": group, "requant": requant(outside, w[0].size), "x_zero_point": 0,
        "pad_value": x_type.limits[0] + 7, "w_zero_point": (0,),
    }  # fmt: skip
    return layer(name, "QConv", [x, w, bias], attributes, (1, 2))


def gemm(rows: int, depth: int, columns: int) -> Layer:
    """Constant weights."""
    attributes = {"a_zero_point": 0, "b_zero_point": (0,), "requant": requant(columns, depth)}
    inputs = [drawn((rows, depth)), weights((depth, columns)), np.arange(columns, dtype=np.int32)]
    return layer(f"gemm {rows}x{depth} {columns}", "QGemm", inputs, attributes, (1, 2))


def matmul(lead: int, m: int, k: int, n: int) -> Layer:
    """Two activations."""
    attributes = {"a_zero_point": 3, "b_zero_point": (-2,), "requant": requant(1, k)}
    return layer(f"matmul {lead}x{m}x{k} {n}", "QMatMul", [drawn((lead, m, k)), drawn((lead, k, n))], attributes)


def pool(op: str, channels: int, size: int, kernel: int, stride: int, pad: int) -> Layer:
    """Square windows."""
    attributes = {
        "kernel_shape": (kernel,) * 2, "strides": (stride,) * 2, "dilations": (1, 1), "pads": (pad,) * 4,
        "ceil_mode": 0,
    }  # fmt: skip
    if op == "QAveragePool":
        scales = tuple(float(np.float32(0.9 / count)) for count in range(1, kernel * kernel + 1))
        scale = Requant(scale=scales if pad else scales[-1:], zero_point=3, low=-128, high=127)
        attributes |= {"x_zero_point": -4, "count_include_pad": 0, "requant": scale}
    result = layer(
        f"{op} {kernel}x{kernel} {channels} stride {stride}", op, [drawn((1, channels, size, size))], attributes
    )
    return replace(result, work=result.site.output.elements * kernel * kernel)


def mean(shape: tuple[int, ...], axes: tuple[int, ...]) -> Layer:
    """Over whole axes."""
    terms = int(np.prod([shape[axis] for axis in axes]))
    scale = Requant(scale=(float(np.float32(0.9 / terms)),), zero_point=3, low=-128, high=127)
    attributes = {"axes": axes, "keepdims": 0, "x_zero_point": -4, "requant": scale}
    return layer(f"mean {'x'.join(map(str, shape))} over {axes}", "QReduceMean", [drawn(shape)], attributes)


def pair(op: str, shape: tuple[int, ...], other: tuple[int, ...]) -> Layer:
    """Element by element, with broadcasting."""
    if op == "QAdd":
        attributes: dict[str, Any] = {
            "a_scale": float(np.float32(0.7732463)), "b_scale": float(np.float32(0.545217)), "a_zero_point": 3,
            "b_zero_point": -7, "zero_point": 5, "low": -128, "high": 127,
        }  # fmt: skip
    else:
        attributes = {"a_zero_point": 3, "b_zero_point": -128, "requant": requant(1, 1)}
    result = layer(f"{op} {list(shape)} {list(other)}", op, [drawn(shape), drawn(other)], attributes)
    return replace(result, work=result.site.output.elements)


def lookup(shape: tuple[int, ...]) -> Layer:
    """A table of 256."""
    return layer("QLookup", "QLookup", [drawn(shape), drawn((256,))], {}, (1,))


def softmax(shape: tuple[int, ...]) -> Layer:
    """Over the last axis."""
    attributes = {
        "axis": -1, "x_scale": float(np.float32(0.1)), "y_scale": 2.0**-8, "zero_point": -128, "low": -128, "high": 127,
    }  # fmt: skip
    return layer(f"softmax {list(shape)}", "QSoftmax", [drawn(shape)], attributes)


def layer(name: str, op: str, inputs: list[Any], attributes: dict[str, Any], constants: Sequence[int] = ()) -> Layer:
    """The layer; divided by its multiply-accumulates, or by the elements of its first input."""
    operator = vocabulary()[op]
    site = site_of(operator, inputs, attributes, constants)
    return Layer(name=name, site=site, inputs=inputs, work=operator.macs(site) or site.input(0).elements)


if __name__ == "__main__":
    sys.exit(main())
