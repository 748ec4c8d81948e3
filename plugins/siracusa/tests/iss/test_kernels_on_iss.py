"""The compiled kernels on the simulated core: equal to the references, as fast as the cost models say, and fast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from iss_run import Executed, run_on_iss

from tilewright.api.testing import site_of
from tilewright.ir.graphs.chains import chain_operator
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import MultiplyShift
from tilewright.operators.pooling.pool import MAX_POOL
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qelementwise import QADD
from tilewright.operators.quantised.qgemm import QGEMM, QMATMUL
from tilewright.operators.quantised.qpool import QAVERAGE_POOL
from tilewright_siracusa.kernels import add, conv_sum, depthwise, matmul, pools, products, vector

Array = npt.NDArray[np.generic]
Made = tuple[Operator, Kernel, Site, list[Array | None]]
CORES = 8


@dataclass(frozen=True)
class Case:
    """A layer, and by how much its cost model may be wrong."""

    name: str
    make: Callable[[np.random.Generator], Made]
    within: float = 0.15

    def __str__(self) -> str:
        return self.name


def random(rng: np.random.Generator, *shape: int, unsigned: bool = False) -> Array:
    return rng.integers(0, 256, shape).astype(np.uint8) if unsigned else rng.integers(-128, 128, shape).astype(np.int8)


def requant(outputs: int, scale: float = 2.0**-11, **changes: Any) -> Requant:
    fields: dict[str, Any] = {"scale": (1.1 * scale,) * outputs, "zero_point": 3, "low": -128, "high": 127}
    return Requant(**{**fields, **changes})


def windows(kernel: tuple[int, int], pad: int = 0, stride: int = 1, dilation: int = 1) -> dict[str, Attribute]:
    return {
        "kernel_shape": kernel, "strides": (stride, stride), "dilations": (dilation, dilation), "pads": (pad,) * 4,
        "ceil_mode": 0,
    }  # fmt: skip


def conv(inputs: int, outputs: int, rows: int, columns: int, kernel: int, **how: Any) -> Callable[..., Made]:
    def make(rng: np.random.Generator) -> Made:
        unsigned, depth = how.pop("unsigned", False), inputs * kernel * kernel
        x, w = random(rng, 1, inputs, rows, columns, unsigned=unsigned), random(rng, outputs, inputs, kernel, kernel)
        bias = rng.integers(-9999, 9999, outputs).astype(np.int32)
        attributes: dict[str, Attribute] = {
            **windows((kernel, kernel), **how), "group": 1, "requant": requant(outputs, 0.02 / depth**0.5),
            "x_zero_point": -5, "pad_value": 7, "w_zero_point": (0,), "output_type": "i8",
        }  # fmt: skip
        return QCONV, products.CONV, site_of(QCONV, [x, w, bias], attributes, (1, 2)), [x, w, bias]

    return make


def summed(inputs: int, outputs: int, rows: int, kernel: int, **how: Any) -> Callable[..., Made]:
    """Of which results are added to as they are stored."""

    def make(rng: np.random.Generator) -> Made:
        _, _, alone, (x, w, bias) = conv(inputs, outputs, rows, rows, kernel, **how)(rng)
        _, _, added, (more, _) = total(*alone.output.shape)(rng)
        attributes = {
            **{f"0.{name}": value for name, value in alone.node.attributes.items()},
            **{f"1.{name}": value for name, value in added.node.attributes.items()},
        }
        given = [x, w, bias, None, more]
        operator, (found,) = chain_operator([QCONV, QADD]), conv_sum.KERNELS
        return operator, found, site_of(operator, given, attributes, (1, 2)), given

    return make


def lanes(channels: int, rows: int, columns: int, kernel: int, **how: Any) -> Callable[..., Made]:
    def make(rng: np.random.Generator) -> Made:
        x, w = random(rng, 1, channels, rows, columns), random(rng, channels, 1, kernel, kernel)
        attributes: dict[str, Attribute] = {
            **windows((kernel, kernel), **how), "group": channels, "requant": requant(channels, 2.0**-9),
            "x_zero_point": -5, "pad_value": -5, "w_zero_point": (0,),
        }  # fmt: skip
        strips = kernel <= depthwise.MOST_ROWS
        chosen = depthwise.DEPTHWISE if strips else depthwise.DEPTHWISE_TAPS
        return QCONV, chosen, site_of(QCONV, [x, w, None], attributes, (1,)), [x, w, None]

    return make


def gemm(rows: int, depth: int, columns: int, kernel: Kernel = products.GEMM) -> Callable[..., Made]:
    def make(rng: np.random.Generator) -> Made:
        a, b = random(rng, rows, depth), random(rng, depth, columns)
        attributes: dict[str, Attribute] = {"a_zero_point": 1, "b_zero_point": (0,), "requant": requant(columns)}
        return QGEMM, kernel, site_of(QGEMM, [a, b, None], attributes, (1,)), [a, b, None]

    return make


def in_4_bits(make: Callable[..., Made]) -> Callable[..., Made]:
    """The same layer with the upper half of its weights, which its file has in 4 bits."""

    def made(rng: np.random.Generator) -> Made:
        operator, kernel, site, (x, w, *bias) = make(rng)
        assert w is not None
        before, upper = site.node.requant(), (w.astype(np.int16) >> 4).astype(np.int8)
        scaled = {"requant": replace(before, scale=tuple(16 * scale for scale in before.scale)), "weight_bits": 4}
        inputs = [x, upper, *bias]
        constants = tuple(index for index in (1, 2) if inputs[index] is not None)
        narrow = {chosen.name.removesuffix("_nibbles"): chosen for chosen in (*products.NIBBLES, vector.VECTOR_NIBBLES)}
        return (
            operator,
            narrow[kernel.name],
            site_of(operator, inputs, {**site.node.attributes, **scaled}, constants),
            inputs,
        )

    return made


def of_16_bits(make: Callable[..., Made], *, twice: bool = False) -> Callable[..., Made]:
    """The same layer of 16-bit values, requantised by the formula of floats, or `twice`, as tflm shifts them."""

    def made(rng: np.random.Generator) -> Made:
        operator, kernel, site, (x, *others) = make(rng)
        assert x is not None
        wide = (257 * x.astype(np.int32) // 4).astype(np.int16)
        before = site.node.requant()
        exact = replace(before, scale=tuple(2 * one for one in before.scale), low=-(2**15), high=2**15 - 1)
        numbers = MultiplyShift(multiplier=(2**14 + 77,), shift=(21,), bits=64)
        shifted = replace(exact, scale=((2**14 + 77) / 2.0**21,), rounding=numbers)
        changed = {"requant": shifted if twice else exact, "output_type": "i16"}
        inputs = [wide, *others]
        constants = tuple(index for index in (1, 2) if inputs[index] is not None)
        words = {chosen.op: chosen for chosen in products.WORDS}
        return (
            operator,
            words[kernel.op],
            site_of(operator, inputs, {**site.node.attributes, **changed}, constants),
            inputs,
        )

    return made


def product(rows: int, depth: int, columns: int, zero: int = 0) -> Callable[..., Made]:
    def make(rng: np.random.Generator) -> Made:
        a, b = random(rng, rows, depth), random(rng, depth, columns, unsigned=bool(zero))
        attributes: dict[str, Attribute] = {
            "a_zero_point": 3, "b_zero_point": (zero,), "requant": requant(1, 2.0**-10),
        }  # fmt: skip
        return QMATMUL, matmul.MATMUL, site_of(QMATMUL, [a, b], attributes), [a, b]

    return make


def average(channels: int, rows: int, columns: int, kernel: tuple[int, int]) -> Callable[..., Made]:
    def make(rng: np.random.Generator) -> Made:
        x = random(rng, 1, channels, rows, columns)
        attributes: dict[str, Attribute] = {
            **windows(kernel), "count_include_pad": 0, "x_zero_point": -5,
            "requant": requant(1, 0.9 / (kernel[0] * kernel[1])),
        }  # fmt: skip
        return QAVERAGE_POOL, pools.AVERAGE, site_of(QAVERAGE_POOL, [x], attributes), [x]

    return make


def largest(channels: int, rows: int, columns: int, kernel: int) -> Callable[..., Made]:
    def make(rng: np.random.Generator) -> Made:
        x = random(rng, 1, channels, rows, columns)
        return MAX_POOL, pools.MAX, site_of(MAX_POOL, [x], windows((kernel, kernel), pad=kernel // 2)), [x]

    return make


def total(*shape: int) -> Callable[..., Made]:
    def make(rng: np.random.Generator) -> Made:
        inputs: list[Array | None] = [random(rng, *shape), random(rng, *shape)]
        attributes: dict[str, Attribute] = {
            "a_scale": 0.3337, "b_scale": 0.7111, "a_zero_point": 2, "b_zero_point": -7, "zero_point": -128,
            "low": -128, "high": 127,
        }  # fmt: skip
        return QADD, add.QADD, site_of(QADD, inputs, attributes), inputs

    return make


CASES = (
    Case("3x3", conv(16, 32, 6, 8, 3)),
    Case("3x3 padded", conv(16, 32, 6, 8, 3, pad=1)),
    Case("3x3 of unsigned values, every second", conv(8, 12, 9, 9, 3, pad=1, stride=2, unsigned=True)),
    Case("3x3 with holes", conv(4, 8, 9, 9, 3, pad=2, dilation=2), within=0.25),
    Case("5x5 padded", conv(4, 4, 7, 7, 5, pad=2)),
    Case("1x1", conv(64, 64, 2, 4, 1)),
    Case("3x3 of three channels", conv(3, 16, 6, 8, 3, pad=1)),
    Case("4x4 of one channel", conv(1, 8, 12, 8, 4)),
    Case("3x3 of three channels, every second", conv(3, 8, 13, 24, 3, pad=1, stride=2)),
    Case("3x3 of six channels, with holes", conv(6, 8, 9, 9, 3, pad=2, dilation=2), within=0.25),
    Case("1x1 of six channels, ten of them out", conv(6, 10, 5, 5, 1)),
    Case("depthwise 3x3", lanes(8, 6, 18, 3)),
    Case("depthwise 3x3 padded, narrow", lanes(4, 25, 5, 3, pad=1)),
    Case("depthwise 3x3 padded, every second", lanes(8, 9, 33, 3, pad=1, stride=2)),
    Case("depthwise 3x3 padded, higher than a strip", lanes(4, 35, 6, 3, pad=1)),
    Case("depthwise 4x4, every second", lanes(4, 13, 9, 4, stride=2)),
    Case("depthwise 2x2", lanes(8, 6, 8, 2)),
    Case("depthwise 5x5 padded", lanes(4, 8, 8, 5, pad=2)),
    Case("depthwise of ten channels", lanes(10, 6, 8, 3, pad=1), within=0.25),
    Case("3x3 padded, 4 bits", in_4_bits(conv(16, 32, 6, 8, 3, pad=1))),
    Case("3x3 of unsigned values, 4 bits", in_4_bits(conv(8, 12, 9, 9, 3, pad=1, stride=2, unsigned=True))),
    Case("3x3 of three channels, 4 bits", in_4_bits(conv(3, 16, 6, 8, 3, pad=1))),
    Case("1x1, 4 bits", in_4_bits(conv(64, 64, 2, 4, 1))),
    Case("3x3 padded, 16 bits", of_16_bits(conv(16, 16, 6, 8, 3, pad=1))),
    Case("3x3 padded, 16 bits, shifted", of_16_bits(conv(16, 16, 6, 8, 3, pad=1), twice=True)),
    Case("3x3, every second, 16 bits", of_16_bits(conv(8, 12, 9, 9, 3, pad=1, stride=2))),
    Case("3x3 of three channels, 16 bits", of_16_bits(conv(3, 16, 6, 8, 3, pad=1))),
    Case("1x1, 16 bits", of_16_bits(conv(64, 64, 2, 4, 1))),
    Case("fully connected, odd, 16 bits", of_16_bits(gemm(5, 30, 10), twice=True)),
    Case("one row, 16 bits", of_16_bits(gemm(1, 400, 16))),
    Case("one row, eight channels, 4 bits", in_4_bits(gemm(1, 640, 8, vector.VECTOR))),
    Case("one row, seven channels, 4 bits", in_4_bits(gemm(1, 100, 7, vector.VECTOR))),
    Case("fully connected, one row", gemm(1, 640, 16)),
    Case("fully connected, odd", gemm(5, 30, 10)),
    Case("one row, eight channels", gemm(1, 640, 8, vector.VECTOR)),
    Case("one row, seven channels", gemm(1, 30, 7, vector.VECTOR), within=0.25),
    Case("one row, one channel", gemm(1, 640, 1, vector.VECTOR)),
    Case("matrix product", product(16, 64, 8)),
    Case("matrix product with a zero point", product(9, 30, 7, zero=9)),
    Case("average of everything", average(16, 8, 8, (8, 8))),
    Case("average 3x3", average(8, 8, 8, (3, 3))),
    Case("average of rows of seven", average(8, 7, 7, (7, 7)), within=0.25),
    Case("largest of 2x2", largest(16, 8, 8, 2), within=0.4),
    Case("largest of 3x3", largest(16, 8, 8, 3), within=0.4),
    Case("sum", total(1, 16, 8, 9)),
    Case("sum of 3x3 padded", summed(16, 16, 8, 3, pad=1)),
    Case("sum of 1x1", summed(16, 32, 8, 1)),
)


def executed(case: Case, folder: Path) -> tuple[Made, Executed]:
    operator, kernel, site, inputs = made = case.make(np.random.default_rng(5))
    found = run_on_iss(operator, kernel, site, inputs, folder)
    assert np.array_equal(found.outputs[0], operator.reference(site, inputs)[0])
    return made, found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_exact_and_as_fast_as_estimated(case: Case, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    (operator, kernel, site, _), found = executed(case, tmp_path)
    assert kernel.cycles is not None
    assert kernel.cycles(layer_of(operator, kernel, site).whole) == pytest.approx(found.cycles, rel=case.within)


@pytest.mark.parametrize(
    ("case", "box"),
    [
        (Case("16 of 64 channels", conv(64, 16, 8, 8, 3, pad=1)), {"h": (2, 3), "c": (16, 32)}),
        (Case("8 of 32 channels, not padded", conv(32, 6, 8, 8, 3)), {"h": (0, 2), "w": (0, 5), "c": (16, 24)}),
        (Case("one row of taps", conv(64, 8, 8, 8, 3, pad=1)), {"h": (2, 3), "y": (1, 2)}),
        (Case("16 of 64 channels of a 1x1", conv(64, 64, 2, 8, 1)), {"c": (16, 32)}),
        (Case("16 of 32 channels, with holes", conv(32, 8, 9, 9, 3, pad=2, dilation=2)), {"c": (16, 32)}),
        (Case("a tenth of a matrix product", gemm(8, 640, 16)), {"k": (64, 128)}),
        (Case("a fifth of one row", gemm(1, 640, 16, vector.VECTOR)), {"k": (128, 256)}),
        (Case("a tenth of one row, seven channels", gemm(1, 640, 7, vector.VECTOR)), {"k": (128, 192)}),
        (Case("16 of 64 channels, 4 bits", in_4_bits(conv(64, 16, 8, 8, 3, pad=1))), {"h": (2, 3), "c": (16, 32)}),
        (Case("a fifth of one row, 4 bits", in_4_bits(gemm(1, 640, 16, vector.VECTOR))), {"k": (128, 256)}),
        (Case("16 of 64 channels, 16 bits", of_16_bits(conv(64, 16, 8, 8, 3, pad=1))), {"h": (2, 3), "c": (16, 32)}),
        (Case("a quarter of a product of computed tensors", product(16, 256, 8)), {"k": (64, 128)}),
    ],
    ids=str,
)
def test_parts_take_what_is_estimated(
    case: Case, box: dict[str, tuple[int, int]], tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """The estimate of a part is the average of the first, those in the middle, and the last, which finishes sums."""
    tool("riscv64-unknown-elf-gcc")
    operator, kernel, site, inputs = case.make(np.random.default_rng(5))
    assert kernel.cycles is not None
    layer = layer_of(operator, kernel, site)
    tile = layer.tile({**layer.whole.box, **box})
    parts = prod(loop.extent / tile.extent(loop.name) for loop in layer.access.loops if loop.kind == "reduce")
    taken = {
        part: run_on_iss(operator, kernel, site, inputs, tmp_path, box, part=part).cycles
        for part in ("first", "middle", "last")
    }
    average = (taken["first"] + (parts - 2) * taken["middle"] + taken["last"]) / parts
    estimate = kernel.cycles(tile)
    assert estimate == pytest.approx(average, rel=case.within)


@pytest.mark.parametrize("gaps", [False, True], ids=["tiles", "in place"])
@pytest.mark.parametrize(
    ("make", "loop", "size"),
    [
        (conv(20, 6, 4, 5, 3, pad=1), "c", 8),
        (conv(20, 6, 5, 6, 3, dilation=2, unsigned=True), "c", 16),
        (conv(12, 4, 5, 5, 3, pad=1, stride=2), "y", 2),
        (conv(20, 5, 3, 3, 1), "c", 8),
        (gemm(3, 44, 6), "k", 16),
        (gemm(1, 44, 7, vector.VECTOR), "k", 16),
        (product(3, 44, 7, zero=9), "k", 16),
        (in_4_bits(conv(20, 7, 4, 5, 3, pad=1)), "c", 8),
        (in_4_bits(gemm(1, 44, 7, vector.VECTOR)), "k", 16),
        (of_16_bits(conv(20, 7, 4, 5, 3, pad=1)), "c", 8),
        (of_16_bits(gemm(3, 44, 7), twice=True), "k", 16),
    ],
    ids=[
        "3x3 padded",
        "3x3 with holes",
        "rows of taps",
        "1x1",
        "fully connected",
        "one row",
        "computed tensors",
        "3x3 of 4 bits",
        "one row of 4 bits",
        "3x3 of 16 bits",
        "fully connected of 16 bits",
    ],
)
def test_all_parts_together_are_exact(
    make: Callable[[np.random.Generator], Made],
    loop: str,
    size: int,
    gaps: bool,
    tmp_path: Path,
    tool: Callable[[str], str],
) -> None:
    """The last part has fewer trips; in place, there are gaps between the channels of neighbouring taps."""
    tool("riscv64-unknown-elf-gcc")
    operator, kernel, site, inputs = make(np.random.default_rng(5))
    extent = next(one.extent for one in layer_of(operator, kernel, site).access.loops if one.name == loop)
    sums: Array | None = None
    for low in range(0, extent, size):
        part = "first" if low == 0 else "last" if low + size >= extent else "middle"
        box = {loop: (low, min(low + size, extent))}
        found = run_on_iss(operator, kernel, site, inputs, tmp_path, box, part=part, sums=sums, gaps=gaps)
        sums = found.sums
    assert np.array_equal(found.outputs[0], operator.reference(site, inputs)[0])


@pytest.mark.parametrize(
    "make", [conv(16, 32, 6, 8, 3, pad=1), conv(64, 64, 2, 4, 1), gemm(8, 64, 64), gemm(1, 640, 16, vector.VECTOR)],
    ids=["3x3", "1x1", "fully connected", "one row"],
)  # fmt: skip
def test_weights_of_4_bits_take_little_more_than_bytes(
    make: Callable[..., Made], tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    wide, narrow = (executed(Case("", one), tmp_path)[1].cycles for one in (make, in_4_bits(make)))
    assert narrow <= 1.15 * wide


@pytest.mark.parametrize(
    ("case", "least"),
    [
        (Case("one core's share of a 64x64x64 product", gemm(8, 64, 64)), 12.0),
        (Case("one core's share of a product of computed tensors", product(64, 64, 8)), 12.0),
        (Case("3x3 convolution of 16 to 32 channels, one core's rows", conv(16, 32, 4, 18, 3, pad=1)), 10.0),
        (Case("1x1 convolution", conv(64, 64, 2, 8, 1)), 12.0),
        (Case("depthwise 3x3", lanes(16, 24, 12, 3, pad=1)), 4.5),
        (Case("depthwise 3x3, every second", lanes(16, 25, 13, 3, pad=1, stride=2)), 2.6),
    ],
    ids=str,
)
def test_products_per_cycle(case: Case, least: float, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Of eight cores that do not wait for each other, requantisation and everything around the loops included."""
    tool("riscv64-unknown-elf-gcc")
    (operator, _, site, _), found = executed(case, tmp_path)
    assert operator.macs is not None
    assert CORES * operator.macs(site) / found.cycles >= least
