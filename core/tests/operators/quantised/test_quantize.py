"""QuantizeLinear and DequantizeLinear: the C against the reference, and the reference against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.ir.access.index_map import MapAccess
from tilewright.operators.families import FAMILIES
from tilewright.operators.quantised.quantize import DEQUANTIZE, KERNELS, QUANTIZE
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

few = settings.get_profile("programs")
STORED = {"i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16"}


def parameters(
    random: np.random.Generator, shape: list[int], dtype: str
) -> tuple[np.ndarray, np.ndarray | None, dict[str, int]]:
    """Scale, zero point and axis: for the whole tensor (as a scalar or one element), or per index of one axis."""
    form = random.integers(3) if shape else 0
    axis = int(random.integers(len(shape))) if shape else 0
    own = [(), (1,), (shape[axis],)][form] if shape else ()
    scale = np.exp2(random.integers(-6, 3, own)).astype(np.float32) * np.float32(random.choice([1, 1.1]))
    info = np.iinfo(dtype)
    zero = random.integers(info.min, info.max + 1, own).astype(dtype) if random.integers(3) else None
    return scale, zero, {"axis": axis} if form == 2 else {}


@pytest.mark.slow
@few
@given(
    shape=st.lists(st.integers(1, 4), max_size=4),
    to=st.sampled_from(sorted(STORED)),
    integer=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_quantize_in_c(shape: list[int], to: str, integer: bool, seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    scale, zero, attributes = parameters(random, shape, STORED[to])
    x = (random.integers(-300, 300, shape) / 2).astype(np.int32 if integer else np.float32)
    if not integer:
        special = np.array([np.nan, np.inf, -np.inf, 1e9, -1e9, 3e38, 1e-45, -0.0], np.float32)
        x = np.where(random.random(shape) < 0.2, random.choice(special, shape), x)
    inputs = [np.asarray(x), scale] + ([zero] if zero is not None else [])
    site = site_of(QUANTIZE, inputs, {**attributes, "to": to}, range(1, len(inputs)))
    assert kernel_errors(QUANTIZE, KERNELS[0], site, inputs, random, tmp_path) == []


@pytest.mark.slow
@few
@given(
    shape=st.lists(st.integers(1, 4), max_size=4),
    dtype=st.sampled_from([*STORED.values(), "int32"]),
    seed=st.integers(0, 2**32),
)
def test_dequantize_in_c(shape: list[int], dtype: str, seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    scale, zero, attributes = parameters(random, shape, dtype)
    info = np.iinfo(dtype)
    x = random.integers(info.min, info.max + 1, shape).astype(dtype)
    inputs = [np.asarray(x), scale] + ([zero] if zero is not None else [])
    site = site_of(DEQUANTIZE, inputs, attributes, range(1, len(inputs)))
    assert kernel_errors(DEQUANTIZE, KERNELS[1], site, inputs, random, tmp_path) == []


@pytest.mark.slow
@given(
    x=st.floats(-1e5, 1e5, width=32),
    scale=st.floats(2.0**-10, 1e3, width=32),
    zero=st.integers(-128, 127),
)
def test_the_quotient_is_a_float_and_halves_go_to_the_even_neighbour(x: float, scale: float, zero: int) -> None:
    arrays = [np.array(x, np.float32), np.array(scale, np.float32), np.array(zero, np.int8)]
    (found,) = QUANTIZE.reference(site_of(QUANTIZE, arrays, {"to": "i8"}), arrays)
    quotient = Fraction(float(np.float32(x) / np.float32(scale)))
    assert int(found) == min(max(round(quotient) + zero, -128), 127)


def test_ties() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5], np.float32)
    site = site_of(QUANTIZE, [x, np.float32(1)], {"to": "i8"})
    assert QUANTIZE.reference(site, [x, np.float32(1)])[0].tolist() == [0, 2, 2, 0, -2, -2]


def test_access_reads_the_parameters_of_the_channels_in_the_box() -> None:
    inputs = [np.zeros((2, 5, 3), np.float32), np.ones(5, np.float32), np.zeros(5, np.int8)]
    access = QUANTIZE.access(site_of(QUANTIZE, inputs, {"axis": 1, "to": "i8"}))
    assert isinstance(access, MapAccess)
    access.verify()
    box = {"a0": (0, 1), "a1": (2, 4), "a2": (0, 3)}
    for operand in "SZ":
        (span,) = access.window(operand, box)
        assert (span.low, span.high) == (2, 4)


def test_refusals() -> None:
    x, scale = np.zeros((2, 3), np.float32), np.ones(2, np.float32)
    with pytest.raises(TilewrightError, match="does not fit axis 1"):
        site_of(QUANTIZE, [x, scale], {"to": "i8", "axis": 1})
    with pytest.raises(TilewrightError, match="zero point must be i8"):
        site_of(QUANTIZE, [x, scale, np.zeros(2, np.uint8)], {"to": "i8", "axis": 0})
    with pytest.raises(TilewrightError, match="one shape"):
        site_of(QUANTIZE, [x, scale, np.zeros(1, np.int8)], {"to": "i8", "axis": 0})
    with pytest.raises(TilewrightError, match="type of X"):
        site_of(DEQUANTIZE, [np.zeros(2, np.int8), scale[:1], np.zeros(1, np.uint8)], {})


@pytest.mark.parametrize("shapes", [((1, 1), (1,)), ((1,), (1, 1)), ((1, 1), (1, 1))])
def test_parameters_of_two_axes(shapes: tuple[tuple[int, ...], ...]) -> None:
    scale, zero = np.ones(shapes[0], np.float32), np.zeros(shapes[1], np.int8)
    with pytest.raises(TilewrightError, match="scale"):
        site_of(QUANTIZE, [np.ones((2, 2), np.float32), scale, zero], {"to": "i8"}, (1, 2))


OPERATORS = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}
TYPES = {"float32": TensorProto.FLOAT, "int8": TensorProto.INT8, "uint8": TensorProto.UINT8, "int16": TensorProto.INT16}


def result(op: str, x: np.ndarray, *parameters: np.ndarray, **attributes: Any) -> np.ndarray:
    """What a node computes whose scale and zero point are constants."""
    names = ["s", "z"][: len(parameters)]
    node = helper.make_node(op, ["x", *names], ["y"], name="n", **attributes)
    constants = [numpy_helper.from_array(array, name) for name, array in zip(names, parameters, strict=True)]
    ends = [helper.make_tensor_value_info("x", TYPES[x.dtype.name], x.shape)]
    graph = helper.make_graph([node], "g", ends, [helper.make_tensor_value_info("y", 0, None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    loaded = load(model.SerializeToString(), operators=OPERATORS).graph
    return run(loaded, {"x": x}, OPERATORS)["y"]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("size", [2, 3, 4, 7])
@pytest.mark.parametrize("zeros", [True, False])
def test_there_and_back(zeros: bool, size: int, dtype: str) -> None:
    random, info = np.random.default_rng(size), np.iinfo(dtype)
    blocks = -(-6 // size)
    x = (random.standard_normal((3, 6, 2)) * 40).astype(np.float32)
    scale = random.choice([0.25, 0.3, 1.5], (3, blocks, 2)).astype(np.float32)
    zero = random.integers(0 if info.min == 0 else -9, 9, scale.shape).astype(dtype)
    wide, wide_zero = (np.repeat(each, size, axis=1)[:, :6] for each in (scale, zero * zeros))
    expected = np.clip(np.rint(x / wide) + wide_zero.astype(np.int64), info.min, info.max).astype(dtype)
    how = {"axis": 1, "block_size": size}
    given = (scale, zero) if zeros else (scale,)
    stored = result("QuantizeLinear", x, *given, **how, **({} if zeros else {"output_dtype": TYPES[dtype]}))
    assert stored.dtype == expected.dtype and np.array_equal(stored, expected)
    back = result("DequantizeLinear", expected, *given, **how)
    assert np.array_equal(back, (expected - wide_zero.astype(np.float32)).astype(np.float32) * wide)


def test_scales_that_are_not_one_for_each_block() -> None:
    with pytest.raises(TilewrightError, match="do not fit"):
        result("QuantizeLinear", np.zeros((4, 6), np.float32), np.ones((4, 2), np.float32), axis=1, block_size=2)
