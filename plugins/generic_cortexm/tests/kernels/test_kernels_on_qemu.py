"""The instructions themselves: odd shapes on emulated cores, from both compilers, every step equal to its reference."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.testing import SideBySide, byte_array, make_requant, side_by_side, site_of, vocabulary
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import DoubleRounding, MultiplyShift, Rational
from tilewright.operators.convolution.conv import CONV
from tilewright.operators.pooling.pool import MAX_POOL
from tilewright.operators.products.gemm import GEMM
from tilewright.operators.products.matmul import MATMUL
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qelementwise import QADD, QMUL
from tilewright.operators.quantised.qgemm import QGEMM, QMATMUL
from tilewright.operators.quantised.qlookup import QLOOKUP
from tilewright.operators.quantised.qpool import QAVERAGE_POOL, QREDUCE_MEAN
from tilewright.operators.quantised.qsoftmax import QSOFTMAX
from tilewright.operators.quantised.quantize import QUANTIZE
from tilewright.tile.measure import step_instructions
from tilewright_cortexm.kernels import KERNELS, dsp_products, float_functions, plain_lean, plain_products, words_softmax
from tilewright_cortexm.qemu.runner import STRICT, QemuRunner
from tilewright_cortexm.qemu.tools import OTHER_COMPILER, arm_compiler

Array = npt.NDArray[np.generic]
Case = tuple[Operator, list[Array | None], dict[str, Attribute], tuple[int, ...]]
KINDS = ("random", "ties", "coarse")
BYTES = (DType.I8, DType.U8)
COMPILERS = {"gcc": "", "clang": "clang"}


@pytest.fixture(autouse=True)
def _tools(tool: Callable[[str], str]) -> None:
    for name in ("arm-none-eabi-gcc", "qemu-system-arm", "clang"):
        tool(name)


# --- shapes


def requant_of(rng: np.random.Generator, channels: int, dtype: DType, reach: float, index: int) -> Requant:
    requant = make_requant(rng, channels, dtype, reach, KINDS[index % 3])
    low, high = dtype.limits
    limits = [(low, high), (low, high), (low + 30, high), (low + 2, high - 77)][index % 4]
    return replace(requant, low=limits[0], high=limits[1])


def types(index: int) -> tuple[DType, DType]:
    return BYTES[index % 2], BYTES[index // 2 % 2]


def conv_case(rng: np.random.Generator, index: int) -> Case:
    x_type, y_type = types(index)
    depthwise, groups = index % 3 == 0, 3 if index % 7 == 1 else 1
    channels, outputs = int(rng.choice([1, 3, 4, 6, 8, 13, 16, 19, 32])), int(rng.choice([1, 2, 3, 4, 5, 7, 8, 9]))
    kernel = (3, 3) if depthwise and index % 2 else tuple(int(k) for k in rng.integers(1, 6 if depthwise else 4, 2))
    strides, pads = tuple(int(s) for s in rng.integers(1, 3, 2)), tuple(int(p) for p in rng.integers(0, 2, 4))
    dilations = (1 + index % 5 // 4, 1 + index % 4 // 3)
    extents = tuple(
        int((k - 1) * d + 1 + more) for k, d, more in zip(kernel, dilations, rng.integers(0, 6, 2), strict=True)
    )
    if index == 5:  # a column that is too long to be widened
        channels, outputs, kernel, extents, dilations = 300, 5, (3, 3), (4, 4), (1, 1)
    channels, outputs = (max(channels, 4),) * 2 if depthwise else (channels * groups, outputs * groups)
    groups = channels if depthwise else groups
    x = byte_array(rng, x_type, (1 + index % 2, channels, *extents), index % 5 == 0)
    w = byte_array(rng, DType.I8, (outputs, channels // groups, *kernel), index % 5 == 1)
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads, "ceil_mode": 0,
        "group": groups, "requant": requant_of(rng, outputs, y_type, 255 * 60 * np.sqrt(w[0].size), index),
        "x_zero_point": int(rng.integers(*x_type.limits)), "pad_value": int(rng.integers(*x_type.limits)),
        "w_zero_point": (0,), "output_type": y_type.value,
    }  # fmt: skip
    return QCONV, [x, w, rng.integers(-3000, 3000, outputs).astype(np.int32)], attributes, (1, 2)


def high_case(rng: np.random.Generator, index: int) -> Case:
    """Depthwise convolutions over images that are much higher than they are wide."""
    x_type, y_type = types(index)
    channels, height = (8, 7)[index % 2], (21, 26, 31)[index % 3]
    x = byte_array(rng, x_type, (1, channels, height, 4), False)
    w = byte_array(rng, DType.I8, (channels, 1, 3, 3), False)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": ((1, 1), (2, 1), (1, 3), (1, 1))[index], "dilations": (1, 1),
        "pads": ((1, 1, 1, 1), (0, 1, 1, 1), (2, 1, 0, 1), (0, 0, 2, 2))[index], "ceil_mode": 0, "group": channels,
        "requant": requant_of(rng, channels, y_type, 255 * 60 * 3, index), "x_zero_point": 3, "pad_value": 5,
        "w_zero_point": (0,), "output_type": y_type.value,
    }  # fmt: skip
    return QCONV, [x, w, rng.integers(-3000, 3000, channels).astype(np.int32)], attributes, (1, 2)


def winograd_case(rng: np.random.Generator, index: int) -> Case:
    """Convolutions of 3x3 whose channels and outputs come in fours and twos, over images of a tile or more."""
    x_type, y_type = types(index)
    channels, outputs = (4, 8, 16, 40)[index % 4], (2, 6, 4)[index % 3]
    x = byte_array(rng, x_type, (1 + index % 2, channels, *(int(n) for n in rng.integers(4, 11, 2))), index % 5 == 4)
    w = byte_array(rng, DType.I8, (outputs, channels, 3, 3), index % 5 == 3)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0,
        "group": 1, "requant": requant_of(rng, outputs, y_type, 255 * 60 * np.sqrt(w[0].size), index),
        "x_zero_point": 7, "pad_value": int(rng.integers(*x_type.limits)), "w_zero_point": (0,),
        "output_type": y_type.value,
    }  # fmt: skip
    return QCONV, [x, w, rng.integers(-3000, 3000, outputs).astype(np.int32)], attributes, (1, 2)


def float_case(rng: np.random.Generator, index: int) -> Case:
    """Convolutions of floats, every third one depthwise, and products; with limits, NaN and infinities."""
    clips: dict[str, Attribute] = ({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.5})[index // 4 % 3]
    if index % 4 == 3:
        rows, depth, columns = (int(n) for n in rng.integers(5, 24, 3))
        a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((rows, depth), (depth, columns)))
        bias = rng.standard_normal(columns).astype(np.float32)
        return (GEMM, [a, b, bias], clips, (1, 2)) if index % 8 == 3 else (MATMUL, [a, b], {}, (1,))
    depthwise = index % 4 == 2
    channels, outputs = int(rng.choice([1, 3, 4, 7, 8, 12])), int(rng.choice([1, 2, 3, 4, 6, 8]))
    channels, outputs = (max(channels, 3),) * 2 if depthwise else (channels, outputs)
    kernel, strides, pads = (tuple(int(n) for n in rng.integers(*ends)) for ends in ((1, 5, 2), (1, 3, 2), (0, 3, 4)))
    dilations = (1 + index % 2, 1 + index // 4 % 2 if depthwise else 1)
    extents = (int((k - 1) * d + rng.integers(1, 12)) for k, d in zip(kernel, dilations, strict=True))
    x = rng.standard_normal((1 + index % 2, channels, *extents)).astype(np.float32)
    x.reshape(-1)[::97] = (np.nan, np.inf, -np.inf, 1.0)[index % 4]
    w = rng.standard_normal((outputs, 1 if depthwise else channels, *kernel)).astype(np.float32)
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads, "ceil_mode": 0,
        "group": channels if depthwise else 1, **clips,
    }  # fmt: skip
    return CONV, [x, w, rng.standard_normal(outputs).astype(np.float32)], attributes, (1, 2)


def recurrent_case(_: np.random.Generator, index: int) -> Case:
    """Steps of LSTM and GRU, which have numbers of their own."""
    rng, hidden = np.random.default_rng(index), 9 + index
    functions: tuple[str, ...] = ("Sigmoid", "Tanh", "Tanh") if index % 2 else ("Sigmoid", "Tanh")
    gates = 4 if index % 2 else 3
    shapes = ((2, 1, gates * hidden), (gates * hidden, hidden))
    given, weights = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    attributes: dict[str, Attribute] = {
        "activations": functions, "alphas": (0.0,) * len(functions), "betas": (0.0,) * len(functions), "reverse": 0,
    }  # fmt: skip
    return vocabulary()["LSTMSteps" if index % 2 else "GRUSteps"], [given, weights], attributes, (1,)


def mve_float_case(rng: np.random.Generator, index: int) -> Case:
    """What only Helium has kernels for: elements, pools, a single row, two computed matrices, groups, float16."""
    kind, turn = index % 8, index // 8
    clips: dict[str, Attribute] = ({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.5})[turn % 3]
    if kind in (0, 1):
        shapes = ((1, 8, 5, 7), (1, 8, 5, 7) if turn % 2 else (1, 8, 1, 1))
        a, b = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
        a.reshape(-1)[::37] = (np.nan, np.inf, -np.inf)[turn % 3]
        if kind:
            return vocabulary()["Clip"], [a], {"min": 0.0, "max": np.inf if turn % 2 else 0.5}, ()
        return vocabulary()[("Add", "Sub", "Mul")[turn % 3]], [a, b], clips, ()
    if kind == 2:
        return float_pool_case(rng, turn, clips)
    if kind == 4:
        columns = (5, 16, 130)[turn % 3]
        a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((2, 7, 18), (2, 18, columns)))
        return MATMUL, [a, b], clips, ()
    if kind in (3, 7):
        rows, columns, dtype = (5, 6 + turn, np.float16) if kind == 7 else (1, 6 + turn, np.float32)
        arrays = [rng.standard_normal(shape).astype(dtype) for shape in ((rows, 35), (35, columns), (columns,))]
        if kind == 7 and turn % 2:
            return MATMUL, list(arrays[:2]), {}, (1,)
        return GEMM, list(arrays), {"beta": 2.0, **clips}, (1, 2)
    case = apart_case(rng, 4 * turn + 1)
    return half_of(case) if kind == 6 else case


def apart_case(rng: np.random.Generator, index: int) -> Case:
    """A convolution of floats with groups, or with dilated columns."""
    operator, (x, w, bias), attributes, constants = float_case(rng, index)
    assert x is not None
    assert w is not None
    if index // 4 % 2 == 0 or x.shape[1] == 1:
        return operator, [x, w, bias], {**attributes, "dilations": (1, 2), "pads": (1, 3, 2, 1)}, constants
    twice = None if bias is None else np.tile(bias, 2)
    arrays = [np.concatenate([x, x], axis=1), np.concatenate([w, w[::-1]]), twice]
    return operator, arrays, {**attributes, "group": 2}, constants


def half_of(case: Case) -> Case:
    operator, arrays, attributes, constants = case
    return operator, [None if one is None else one.astype(np.float16) for one in arrays], attributes, constants


def float_pool_case(rng: np.random.Generator, turn: int, clips: dict[str, Attribute]) -> Case:
    x = rng.standard_normal((1, int(rng.choice([5, 8])), 9, 11)).astype(np.float32)
    x.reshape(-1)[::61] = (np.nan, np.inf, -np.inf, 1.0)[turn % 4]
    window: dict[str, Attribute] = {
        "kernel_shape": (3, 2), "strides": (2, 1), "dilations": (1, 2), "pads": (1, 0, 1, 1), "ceil_mode": 0,
    }  # fmt: skip
    if turn % 2:
        return vocabulary()["AveragePool"], [x], {**window, "count_include_pad": turn // 2 % 2, **clips}, ()
    return MAX_POOL, [x], window, ()


def gemm_case(rng: np.random.Generator, index: int) -> Case:
    a_type, y_type = types(index)
    rows, depth, columns = int(rng.integers(1, 6)), int(rng.integers(1, 80)), int(rng.integers(1, 13))
    depth = 5000 if index == 3 else depth
    attributes: dict[str, Attribute] = {
        "a_zero_point": int(rng.integers(*a_type.limits)), "b_zero_point": (0,), "output_type": y_type.value,
        "requant": requant_of(rng, columns, y_type, 255 * 60 * np.sqrt(depth), index),
    }  # fmt: skip
    b = byte_array(rng, DType.I8, (depth, columns), False)
    bias = rng.integers(-3000, 3000, columns).astype(np.int32)
    return QGEMM, [byte_array(rng, a_type, (rows, depth), False), b, bias], attributes, (1, 2)


def matmul_case(rng: np.random.Generator, index: int) -> Case:
    a_type, y_type = types(index)
    rows, depth, columns = int(rng.integers(3, 9)), int(rng.integers(4, 60)), int(rng.integers(5, 40))
    a, b = byte_array(rng, a_type, (2, rows, depth), False), byte_array(rng, y_type, (2, depth, columns), False)
    attributes: dict[str, Attribute] = {
        "a_zero_point": int(rng.integers(*a_type.limits)), "b_zero_point": (int(rng.integers(*y_type.limits)),),
        "requant": requant_of(rng, 1, y_type, 255 * 128 * np.sqrt(depth), index), "output_type": y_type.value,
    }  # fmt: skip
    return QMATMUL, [a, b], attributes, ()


def pool_case(rng: np.random.Generator, index: int) -> Case:
    x_type, y_type = types(index)
    kernel, pads = tuple(int(k) for k in rng.integers(1, 5, 2)), tuple(int(p) for p in rng.integers(0, 2, 4))
    kernel = (17, 17) if index == 4 else kernel  # sums that need 32 bits
    pads = tuple(min(pad, k - 1) for pad, k in zip(pads, kernel * 2, strict=True))
    x = byte_array(rng, x_type, (1 + index % 2, int(rng.choice([4, 7, 16, 21])), 18, 18), index % 5 == 0)
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": tuple(int(s) for s in rng.integers(1, 4, 2)), "dilations": (1, 1),
        "pads": pads, "ceil_mode": index % 2,
    }  # fmt: skip
    if index % 2:
        return MAX_POOL, [x], attributes, ()
    taps = int(np.prod(kernel))
    attributes |= {
        "requant": requant_of(rng, taps, y_type, 100.0 * taps, index), "output_type": y_type.value,
        "x_zero_point": int(rng.integers(*x_type.limits)), "count_include_pad": index // 2 % 2,
    }  # fmt: skip
    if index % 6 == 2:  # of one count, and of several
        counts = (taps,) if index == 2 else tuple(range(1, taps + 1))
        quotient = Rational(numerator=(1,) * len(counts), denominator=counts, halves="away")
        low, high = y_type.limits
        scale = tuple(1 / count for count in counts)
        requant = Requant(scale=scale, zero_point=0, low=low, high=high, rounding=quotient)
        attributes |= {"requant": requant, "x_zero_point": 0, "pads": (0,) * 4 if index == 2 else pads}
    return QAVERAGE_POOL, [x], attributes, ()


def mean_case(rng: np.random.Generator, index: int) -> Case:
    x_type, y_type = types(index)
    axes = ((2, 3), (1, 2), (2, 3))[index % 3]
    x = byte_array(rng, x_type, (2, 9, 20, 17) if index == 2 else (2, 9, 5, 7), False)
    terms = int(np.prod([x.shape[axis] for axis in axes]))
    attributes: dict[str, Attribute] = {
        "axes": axes, "keepdims": index % 2, "x_zero_point": 5, "output_type": y_type.value,
        "requant": requant_of(rng, 1, y_type, 100.0 * terms, index),
    }  # fmt: skip
    return QREDUCE_MEAN, [x], attributes, ()


def pair_case(rng: np.random.Generator, index: int) -> Case:
    a_type, y_type = types(index)
    shape, others = (2, 9, 5, 7), ((2, 9, 5, 7), (1, 9, 1, 1), (5, 7), (1,), (2, 1, 5, 7), (9, 1, 7))
    inputs: list[Array | None] = [
        byte_array(rng, a_type, shape, index % 4 == 3),
        byte_array(rng, y_type, others[index % len(others)], False),
    ]
    low, high = y_type.limits
    if index < 10:
        scales = ((0.7732463, 2.045217), (0.31, -0.9), (0.5, 0.25), (1.0, 1.0))[index % 4]
        limits = [(low, high), (low + 20, high - 5)][index // 4 % 2]
        attributes: dict[str, Attribute] = {
            "a_scale": float(np.float32(scales[0])), "b_scale": float(np.float32(scales[1])), "a_zero_point": 3,
            "b_zero_point": -7, "zero_point": low + 5, "low": limits[0], "high": limits[1], "output_type": y_type.value,
        }  # fmt: skip
        return QADD, inputs, attributes, ()
    attributes = {
        "a_zero_point": -128, "b_zero_point": 9, "requant": requant_of(rng, 1, y_type, 9000.0, index),
        "output_type": y_type.value,
    }  # fmt: skip
    return QMUL, inputs, attributes, ()


def table_case(rng: np.random.Generator, index: int) -> Case:
    x_type, y_type = types(index)
    if index < 4:
        inputs: list[Array | None] = [byte_array(rng, x_type, (2, 5, 9), False), byte_array(rng, y_type, (256,), False)]
        return QLOOKUP, inputs, {}, (1,)
    low, high = y_type.limits
    attributes: dict[str, Attribute] = {
        "axis": (-1, 1)[index % 2], "x_scale": float(np.float32(0.13)), "y_scale": (2.0**-8, 2.0**-16)[index // 4 % 2],
        "zero_point": low, "low": low, "high": high, "output_type": y_type.value,
    }  # fmt: skip
    return QSOFTMAX, [byte_array(rng, x_type, (3, 37), index == 5)], attributes, ()


def words_case(rng: np.random.Generator, index: int) -> Case:
    """Values of 16 bits, by the formula of floats or as `tflm` rounds them; every fourth with sums beyond 32 bits."""
    product, wide = index % 3 == 2, index % 4 == 3
    depthwise = index % 3 == 1
    channels, outputs = int(rng.choice([4, 6, 8, 13])), int(rng.choice([1, 2, 3, 4, 5, 7, 12]))
    channels = 300 if wide and not depthwise else channels
    kernel = (1, 1) if wide or product else tuple(int(size) for size in rng.integers(1, 4, 2))
    extents = (1, 1) if product else tuple(int(size) + 5 for size in rng.integers(0, 4, 2))
    outputs = channels if depthwise else outputs
    x = byte_array(rng, DType.I16, (1 + index % 2, channels, *extents), wide)
    w = byte_array(rng, DType.I8, (outputs, 1 if depthwise else channels, *kernel), wide)
    bias = rng.integers(-90000, 90000, outputs) * (2**20 if wide and not depthwise else 1)
    scale = 20000 / (32768 * 60 * np.sqrt(w[0].size)) * 2.0 ** rng.uniform(-2, 0, outputs)
    limits = ((-(2**15), 2**15 - 1), (0, 2**15 - 1), (-20000, 30000))[index // 2 % 3]
    requant = Requant(
        scale=tuple(float(each) for each in scale.astype(np.float32)),
        zero_point=(0, -300)[index % 2], low=limits[0], high=limits[1],
    )  # fmt: skip
    if index // 3 % 2:
        shift = 14 - np.floor(np.log2(scale)).astype(int)
        cut = np.minimum(np.rint(scale * 2.0**shift), 2**15 - 1)
        numbers = {"multiplier": tuple(map(int, cut)), "shift": tuple(map(int, shift))}
        requant = replace(requant, rounding=MultiplyShift(**numbers, bits=64))
    attributes: dict[str, Attribute] = {"requant": requant, "output_type": "i16"}
    if product:
        attributes |= {"a_zero_point": (0, 77)[index % 2], "b_zero_point": (0,)}
        return QGEMM, [x[:, :, 0, 0].copy(), w[:, :, 0, 0].T.copy(), bias], attributes, (1, 2)
    pads = tuple(int(pad) for pad in rng.integers(0, 2, 4)) if kernel != (1, 1) else (0, 0, 0, 0)
    attributes |= {
        "kernel_shape": kernel, "strides": (1 + index % 2, 1), "dilations": (1, 1 + index // 6 % 2), "pads": pads,
        "ceil_mode": 0, "group": channels if depthwise else 1, "x_zero_point": (0, 77)[index % 2],
        "pad_value": (0, 77, -5)[index % 3], "w_zero_point": (0,),
    }  # fmt: skip
    return QCONV, [x, w, bias], attributes, (1, 2)


def grouped_case(rng: np.random.Generator, index: int) -> Case:
    """Several filters of a channel, and groups whose channels and outputs come in fours."""
    x_type, y_type = types(index)
    several = index % 2 == 0
    groups = (3, 8, 5, 2)[index // 2 % 4]
    each, outputs = (1, (2, 4)[index // 2 % 2]) if several else ((4, 8)[index // 2 % 2], (4, 8, 4)[index // 2 % 3])
    kernel = tuple(int(size) for size in rng.integers(1, 4, 2))
    x = byte_array(rng, x_type, (1 + index % 2, groups * each, 5, 6), index == 4)
    w = byte_array(rng, DType.I8, (groups * outputs, each, *kernel), index == 5)
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": (1, 1 + index % 3 // 2), "dilations": (1 + index // 4 % 2, 1),
        "pads": (1, 1, 0, 1), "ceil_mode": 0, "group": groups,
        "requant": requant_of(rng, groups * outputs, y_type, 255 * 60 * np.sqrt(w[0].size), index),
        "x_zero_point": 7, "pad_value": int(rng.integers(*x_type.limits)), "w_zero_point": (0,),
        "output_type": y_type.value,
    }  # fmt: skip
    return QCONV, [x, w, rng.integers(-3000, 3000, groups * outputs).astype(np.int32)], attributes, (1, 2)


def wide_case(rng: np.random.Generator, index: int) -> Case:
    """Depthwise convolutions of five and seven columns."""
    x_type, y_type = types(index)
    channels, kernel = (4, 7, 9)[index % 3], ((5, 5), (3, 7), (1, 5), (7, 7))[index % 4]
    x = byte_array(rng, x_type, (1 + index % 2, channels, 9 + index, 14 - index % 5), index == 3)
    w = byte_array(rng, DType.I8, (channels, 1, *kernel), index == 4)
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": (1 + index % 3 // 2, 1 + index // 2 % 2), "dilations": (1, 1),
        "pads": (index % 2, index % 3, 0, 2), "ceil_mode": 0, "group": channels,
        "requant": requant_of(rng, channels, y_type, 255 * 60 * 4, index), "x_zero_point": 3, "pad_value": 5,
        "w_zero_point": (0,), "output_type": y_type.value,
    }  # fmt: skip
    return QCONV, [x, w, rng.integers(-3000, 3000, channels).astype(np.int32)], attributes, (1, 2)


def border_case(rng: np.random.Generator, index: int) -> Case:
    y_type, scale = BYTES[index % 2], np.float32((0.05, 0.25)[index // 2 % 2])
    x = rng.normal(0, 100 * scale, (2, 5, 11)).astype(np.float32)
    x[0, 0, :6] = [np.nan, np.inf, -np.inf, 1e30, -1e30, -0.0]
    x[1] = np.rint(x[1] / scale) * scale + scale / 2  # halves, where the scale is a power of two
    zero = np.asarray(rng.integers(*y_type.limits), y_type.numpy)
    return QUANTIZE, [x, np.asarray(scale), zero], {"to": y_type.value}, (1, 2)


def small_words_case(rng: np.random.Generator, index: int) -> Case:
    """Pools, sums and products of 16-bit values, as TensorFlow Lite Micro rounds them."""
    x = byte_array(rng, DType.I16, (1 + index % 2, (3, 8, 13)[index // 4], 9, 7), index % 3 == 0)
    low, high = DType.I16.limits if index < 8 else (-3, 900)
    rounding = DoubleRounding() if index % 2 else Rational(numerator=(1,), denominator=(6,), halves="away")
    requant = Requant(scale=(2.0**-15 if index % 2 else 1 / 6,), zero_point=0, low=low, high=high, rounding=rounding)
    window: dict[str, Attribute] = {
        "kernel_shape": (2, 3), "strides": (1, 2), "dilations": (1, 1), "pads": (1, 0, 0, 1), "ceil_mode": 0,
    }  # fmt: skip
    zeros: dict[str, Attribute] = {"a_zero_point": 0, "b_zero_point": 0, "output_type": "i16"}
    other = byte_array(rng, DType.I16, (x.shape, x.shape[2:], (1,))[index // 4], False)
    if index % 4 == 0:
        mean = {"x_zero_point": 0, "count_include_pad": 1, "requant": requant, "output_type": "i16"}
        return QAVERAGE_POOL, [x], {**window, **mean}, ()
    if index % 4 == 1:
        return QMUL, [x, other], {**zeros, "requant": requant}, ()
    if index % 4 == 2:
        return MAX_POOL, [x], window, ()
    scales: dict[str, Attribute] = {
        "a_scale": 0.5, "b_scale": -0.75, "y_scale": 0.9, "zero_point": 0, "low": low, "high": high, "rounding": "tflm",
    }  # fmt: skip
    return QADD, [x, other], {**zeros, **scales}, ()


FAMILIES = (
    (recurrent_case, 2),
    (border_case, 4),
    (conv_case, 36), (gemm_case, 8), (matmul_case, 6), (pool_case, 10), (mean_case, 3), (pair_case, 16),
    (table_case, 10), (high_case, 4), (winograd_case, 8), (float_case, 24),
    (mve_float_case, 24),
    (grouped_case, 8),
)  # fmt: skip


def rounded_twice(case: Case, index: int) -> Case:
    """The layer in the arithmetic `tflm`; every second one has no results below its zero point."""
    operator, inputs, attributes, constants = case
    requant = attributes.get("requant")
    if operator is QAVERAGE_POOL or not isinstance(requant, Requant):
        return case
    low = min(max(requant.low, requant.zero_point), requant.high - 1) if index % 2 else requant.low
    scale = tuple(min(each, 0.45) for each in requant.scale)  # ties have 0.5, which is one rounding
    requant = replace(requant, scale=scale, low=low, rounding=DoubleRounding())
    return operator, inputs, {**attributes, "requant": requant}, constants


def shifted(case: Case, index: int) -> Case:
    """The layer with a multiplier of some bits, an addend and a shift; the same for all channels, or with addends, or
    with shifts of their own.
    """
    operator, inputs, attributes, constants = case
    requant = attributes.get("requant")
    if operator is QAVERAGE_POOL or not isinstance(requant, Requant):
        return case
    scale, kind = np.asarray(requant.scale), index % 4
    shifts = 7 - np.floor(np.log2(scale)).astype(int)
    shifts = shifts if kind == 3 else np.full_like(shifts, shifts.min())
    multipliers = np.maximum(np.rint(scale * 2.0**shifts), 1).astype(int)
    addends = (np.arange(len(scale)) - 1) * 77 * (kind > 0)
    rounding = MultiplyShift(
        multiplier=tuple(multipliers.tolist()), addend=tuple(addends.tolist()), shift=tuple(shifts.tolist()),
        rounding="floor" if kind == 2 else "half-up", bits=64 if index % 3 else 32,
    )  # fmt: skip
    requant = replace(requant, scale=tuple(multipliers / 2.0**shifts), rounding=rounding)
    return operator, inputs, {**attributes, "requant": requant}, constants


@cache
def everything(rounding: str = "onnx") -> SideBySide:
    rng = np.random.default_rng(7)
    cases: list[tuple[Site, Sequence[Array | None]]] = []
    for make, count in FAMILIES:
        for index in range(count):
            case = make(rng, index)
            case = ROUNDED[rounding](case, index // 2)
            operator, inputs, attributes, constants = case
            cases.append((site_of(operator, inputs, attributes, constants), inputs))
    return side_by_side(cases)


WORDS = {f"cortex-m.{unit}.{name}_words" for unit in ("dsp", "mve") for name in ("qconv", "qgemm", "depthwise")}
WORDS |= {"cortex-m.mve.qadd_twice", "cortex-m.dsp.qmul_words"}
OF_THEIR_OWN = {
    kernel.name for module in (float_functions, words_softmax) for kernel in module.KERNELS
}  # tests on QEMU
ROUNDED = {"onnx": lambda case, _: case, "tflm": rounded_twice, "multiply-shift": shifted}


@cache
def of_words() -> SideBySide:
    rng = np.random.default_rng(3)
    cases = [words_case(rng, index) for index in range(24)] + [small_words_case(rng, index) for index in range(12)]
    return side_by_side([(site_of(*case), case[1]) for case in cases])


def nibbles_case(rng: np.random.Generator, index: int) -> Case:
    """A layer with weights of 4 bits: a convolution that is no depthwise one, or a product."""
    made = gemm_case(rng, index) if index % 4 == 3 else conv_case(rng, index + (index % 3 == 0))
    operator, (x, weights, bias), attributes, constants = made
    assert weights is not None
    narrow = rng.integers(-8, 8, weights.shape).astype(np.int8)
    return operator, [x, narrow, bias], {**attributes, "weight_bits": 4}, constants


@cache
def of_nibbles(rounding: str = "onnx") -> SideBySide:
    rng = np.random.default_rng(11)
    cases = [ROUNDED[rounding](nibbles_case(rng, index), index) for index in range(28)]
    return side_by_side([(site_of(*case), case[1]) for case in cases])


@cache
def of_wide(rounding: str = "onnx") -> SideBySide:
    rng = np.random.default_rng(13)
    cases = [ROUNDED[rounding](wide_case(rng, index), index) for index in range(12)]
    return side_by_side([(site_of(*case), case[1]) for case in cases])


SINGLE = ("cortex-m.dsp.qconv", "cortex-m.mve.qconv")  # those that have others for where memory is short
WINOGRAD = ("cortex-m.cpu.winograd2", "cortex-m.cpu.winograd4")  # they would take what cores without DSP compute
LEAN = tuple(kernel.name for kernel in plain_lean.KERNELS)  # they would take what `plain_products` computes
SCRATCHED = (*WINOGRAD, *(kernel.name for kernel in plain_products.KERNELS))  # they would take what lean kernels do
FEWER = (*SINGLE, "cortex-m.dsp.depthwise3x3_columns", "cortex-m.dsp.winograd4")


@cache
def deployed(core: str, without: tuple[str, ...] = (), rounding: str = "onnx", **settings: str) -> Deployment:
    return planned(everything(rounding), core, without, Options(settings={"speed_flash": "all", **settings}))


def planned(many: SideBySide, core: str, without: tuple[str, ...], options: Options) -> Deployment:
    """`without`: kernels that are not there, so that the next best ones are taken."""
    plan = many.deployment(f"cortex-{core}", options)
    kernels = {name: kernel for name, kernel in plan.registry.kernels.items() if name not in without}
    return many.deployment(f"cortex-{core}", options, replace(plan.registry, kernels=kernels))


# --- tests


@pytest.mark.parametrize(
    ("core", "compiler", "settings", "without"),
    [
        pytest.param("m4", "gcc", {}, (), marks=pytest.mark.long),
        pytest.param("m4", "clang", {}, SINGLE, marks=pytest.mark.long),
        ("m4", "gcc", {"unaligned": "no"}, SINGLE),
        ("m55", "gcc", {}, ()),
        pytest.param("m55", "clang", {}, SINGLE, marks=pytest.mark.long),
    ],
    ids=["m4-gcc", "m4-clang", "m4-gcc-strict", "m55-gcc", "m55-clang"],
)
def test_odd_shapes(
    core: str,
    compiler: str,
    settings: Mapping[str, str],
    without: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(OTHER_COMPILER, COMPILERS[compiler])
    many, plan = everything(), deployed(core, without, **settings)
    result = many.run(plan, QemuRunner(), tmp_path, trace=True)
    wrong = [verdict for verdict in many.judge(plan, result) if not verdict.exact]
    assert [(verdict, plan.bound.bindings[verdict.name].kernel.name) for verdict in wrong] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("core", "compiler", "without"),
    [
        ("m4", "gcc", ()),
        pytest.param("m4", "clang", FEWER, marks=pytest.mark.long),
        ("m55", "gcc", ()),
        pytest.param("m55", "clang", SINGLE, marks=pytest.mark.long),
    ],
)
def test_products_that_are_rounded_twice(
    core: str, compiler: str, without: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OTHER_COMPILER, COMPILERS[compiler])
    many, plan = everything("tflm"), deployed(core, without, "tflm")
    result = many.run(plan, QemuRunner(), tmp_path, trace=True)
    wrong = [verdict for verdict in many.judge(plan, result) if not verdict.exact]
    assert [(verdict, plan.bound.bindings[verdict.name].kernel.name) for verdict in wrong] == []


@pytest.mark.slow
@pytest.mark.parametrize("core", ["m4", "m55"])
def test_products_that_are_added_to_and_shifted(core: str, tmp_path: Path) -> None:
    many, plan = everything("multiply-shift"), deployed(core, SINGLE, "multiply-shift")
    result = many.run(plan, QemuRunner(), tmp_path, trace=True)
    wrong = [verdict for verdict in many.judge(plan, result) if not verdict.exact]
    assert [(verdict, plan.bound.bindings[verdict.name].kernel.name) for verdict in wrong] == []


@pytest.mark.slow
@pytest.mark.parametrize("core", ["m3", "m0plus"])
@pytest.mark.parametrize("side", [4, 2])
def test_winograd_without_the_dsp_extension(core: str, side: int, tmp_path: Path) -> None:
    """Four channels have one turn of the inner loop, 40 have several."""
    rng = np.random.default_rng(3)
    cases = [winograd_case(rng, index) for index in range(6)]
    cases = [shifted(case, index) if index % 2 else case for index, case in enumerate(cases)]
    many = side_by_side([(site_of(operator, inputs, names, fixed), inputs) for operator, inputs, names, fixed in cases])
    options = Options(settings={"speed_flash": "all"})
    registry = many.deployment(f"cortex-{core}", options).registry
    only = f"cortex-m.cpu.winograd{side}"
    kernels = {name: kernel for name, kernel in registry.kernels.items() if kernel.op != "QConv" or name == only}
    plan = many.deployment(f"cortex-{core}", options, replace(registry, kernels=kernels))
    result = many.run(plan, QemuRunner(), tmp_path, trace=True)
    assert [verdict for verdict in many.judge(plan, result) if not verdict.exact] == []


@pytest.mark.slow
@pytest.mark.parametrize("core", ["m3", "m0plus"])
@pytest.mark.parametrize(
    ("compiler", "without"), [("gcc", ()), ("gcc", LEAN), pytest.param("clang", (), marks=pytest.mark.long)]
)
def test_products_without_the_dsp_extension(
    core: str, compiler: str, without: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OTHER_COMPILER, COMPILERS[compiler])
    rng = np.random.default_rng(5)
    families = ((conv_case, 36), (gemm_case, 8), (high_case, 4), (grouped_case, 8), (wide_case, 4))
    cases = [(make(rng, index), index) for make, count in families for index in range(count)]
    rounded = [tuple(ROUNDED.values())[max(index % 5 - 2, 0)](case, index) for case, index in cases]
    many = side_by_side([(site_of(*case), case[1]) for case in rounded])
    plan = planned(many, core, without, Options())
    assert sum(".v" in binding.kernel.name for binding in plan.bound.bindings.values()) > len(cases) // 2
    result = many.run(plan, QemuRunner(), tmp_path, trace=True)
    wrong = [verdict for verdict in many.judge(plan, result) if not verdict.exact]
    assert [(verdict, plan.bound.bindings[verdict.name].kernel.name) for verdict in wrong] == []


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ["tflm", "multiply-shift"])
def test_every_kernel_of_a_rounding_is_among_them(rounding: str) -> None:
    plans = [deployed(core, without, rounding) for core in ("m4", "m55") for without in ((), FEWER)]
    plans += [deployed("m3", without, rounding) for without in ((), LEAN, ("cortex-m.cpu.winograd4",))]
    plans += [deployed(core, without, rounding) for core in ("m0plus", "m3") for without in (WINOGRAD, SCRATCHED)]
    plans += [of_nibbles(rounding).deployment(f"cortex-{core}", Options()) for core in ("m4", "m55")]
    plans += [of_wide(rounding).deployment("cortex-m4", Options())]
    used = {binding.kernel.name for plan in plans for binding in plan.bound.bindings.values()}
    assert {kernel.name for kernel in KERNELS if rounding in kernel.roundings} <= used | WORDS | OF_THEIR_OWN


@pytest.mark.slow
@pytest.mark.parametrize(
    ("core", "without"),
    [("m4", SINGLE), ("m55", SINGLE), *(pytest.param(core, (), marks=pytest.mark.long) for core in ("m4", "m55"))],
)
def test_estimates_are_near_what_is_executed(core: str, without: tuple[str, ...], tmp_path: Path) -> None:
    """Portable C's included: `bind` compares them. What takes less than a thousand instructions does not matter. These
    shapes are odd ones: few pixels, rests of blocks everywhere (`benchmarks/estimates.py` judges usual ones).
    """
    many, plan = everything(), deployed(core, without)
    executed = many.run(plan, QemuRunner(), tmp_path, trace=False).step_counts
    said = step_instructions(plan.allocated.tiled, plan.registry.operators, plan.allocated.decisions)
    for node in many.graph.nodes:
        used, count = plan.bound.bindings[node.name].kernel.name, executed[node.name]["instructions"]
        assert count < 1000 or 0.3 < said[node.name] / count < 3, (node.name, used, said[node.name], count)


def test_every_kernel_is_among_them() -> None:
    plans = [deployed(core, without) for core in ("m4", "m55") for without in ((), SINGLE, FEWER)]
    plans += [deployed("m3", without) for without in ((), LEAN, ("cortex-m.cpu.winograd4",))]
    plans += [deployed(core, WINOGRAD) for core in ("m0plus", "m3")]
    used = {binding.kernel.name for plan in plans for binding in plan.bound.bindings.values()}
    many = ((of_words(), "m4"), (of_words(), "m55"), (of_nibbles(), "m4"), (of_nibbles(), "m55"), (of_wide(), "m4"))
    for others, core in many:
        plan = others.deployment(f"cortex-{core}", Options())
        used |= {binding.kernel.name for binding in plan.bound.bindings.values()}
    assert {kernel.name for kernel in KERNELS} <= used | OF_THEIR_OWN


@pytest.mark.slow
@pytest.mark.parametrize(
    ("core", "compiler", "settings"),
    [
        ("m4", "gcc", {}),
        ("m4", "clang", {}),
        ("m4", "gcc", {"unaligned": "no"}),
        ("m55", "gcc", {}),
        pytest.param("m55", "clang", {}, marks=pytest.mark.long),
    ],
    ids=["m4-gcc", "m4-clang", "m4-gcc-strict", "m55-gcc", "m55-clang"],
)
def test_odd_shapes_of_16_bits(
    core: str, compiler: str, settings: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OTHER_COMPILER, COMPILERS[compiler])
    many = of_words()
    plan = many.deployment(f"cortex-{core}", Options(settings=settings))
    result = many.run(plan, QemuRunner(), tmp_path, trace=True)
    wrong = [verdict for verdict in many.judge(plan, result) if not verdict.exact]
    assert [(verdict, plan.bound.bindings[verdict.name].kernel.name) for verdict in wrong] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("core", "compiler", "rounding", "settings"),
    [
        ("m4", "gcc", "onnx", {}),
        ("m4", "clang", "tflm", {"unaligned": "no"}),
        ("m55", "gcc", "onnx", {}),
        ("m55", "clang", "tflm", {}),
        ("m4", "gcc", "multiply-shift", {}),
        ("m55", "gcc", "multiply-shift", {}),
    ],
)
def test_odd_shapes_of_4_bits(
    core: str,
    compiler: str,
    rounding: str,
    settings: Mapping[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(OTHER_COMPILER, COMPILERS[compiler])
    many = of_nibbles(rounding)
    plan = many.deployment(f"cortex-{core}", Options(settings=settings))
    used = {binding.kernel.name for binding in plan.bound.bindings.values()}
    unit = "mve" if core == "m55" else "dsp"
    assert used >= {f"cortex-m.{unit}.qconv_nibbles", f"cortex-m.{unit}.qgemm_nibbles"}
    result = many.run(plan, QemuRunner(), tmp_path, trace=True)
    wrong = [verdict for verdict in many.judge(plan, result) if not verdict.exact]
    assert [(verdict, plan.bound.bindings[verdict.name].kernel.name) for verdict in wrong] == []


def test_words_of_one_channel_and_of_two_are_among_them() -> None:
    plans = [deployed("m4", without) for without in ((), SINGLE)]
    found = {
        (binding.kernel.name, plan.bound.site(node).analysis.paired)
        for plan in plans
        for node in plan.bound.graph.nodes
        if (binding := plan.bound.bindings[node.name]).kernel in dsp_products.KERNELS
    }
    bytes_alone = [kernel.name for kernel in dsp_products.KERNELS if kernel.weight_bits == (8,)]
    assert found == {(name, paired) for name in bytes_alone for paired in (False, True)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("core", "compiler", "optimise"),
    [
        ("m4", "gcc", "-Os"),
        pytest.param("m55", "gcc", "-Os", marks=pytest.mark.long),
        ("m4", "clang", "-Os"),
        ("m55", "clang", "-Os"),
        ("m4", "gcc", "-O0"),
        ("m55", "gcc", "-O0"),
    ],
)
def test_compilers_have_nothing_to_say_about_small_code(
    core: str, compiler: str, optimise: str, tmp_path: Path
) -> None:
    """What runs above is compiled at -O2, with the same warnings. Without optimisation there are fewer registers."""
    plan = deployed(core)
    for name, content in plan.artifact.files.items():
        (tmp_path / name).write_bytes(content)
    command = arm_compiler({OTHER_COMPILER: COMPILERS[compiler]})
    flags = [*STRICT, optimise, *plan.platform.compile_flags]
    source = f"{plan.prefix}.c"
    done = subprocess.run(
        [*command, *flags, "-c", "-o", "model.o", source], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.long)])
@pytest.mark.parametrize("rounding", ROUNDED)
def test_wide_windows(rounding: str, compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OTHER_COMPILER, COMPILERS[compiler])
    many = of_wide(rounding)
    plan = many.deployment("cortex-m4", Options())
    result = many.run(plan, QemuRunner(), tmp_path, trace=True)
    wrong = [verdict for verdict in many.judge(plan, result) if not verdict.exact]
    assert [(verdict, plan.bound.bindings[verdict.name].kernel.name) for verdict in wrong] == []
