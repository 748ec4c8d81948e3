"""Comparisons, And, Or, Xor, Not, Where: the C against numpy, in any layout, in tiles, broadcast; what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.elementwise.logic import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

BY_NAME = {operator.name: operator for operator in OPERATORS}
KERNEL_OF = {kernel.op: kernel for kernel in KERNELS}
OF_TRUTHS = [name for name in BY_NAME if not name.startswith("Bit")]
TRUTHS = ("And", "Or", "Xor")
TYPES = ("float32", "int8", "uint8", "int32", "int64", "bool")
few = settings.get_profile("programs")


@pytest.mark.slow
@few
@given(
    data=st.data(),
    op=st.sampled_from(OF_TRUTHS),
    seed=st.integers(0, 2**32),
)
def test_c_equals_reference(data: st.DataObject, op: str, seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    shape = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    dtype = data.draw(st.sampled_from(TYPES if op not in (*TRUTHS, "Not") else ("bool",)))

    def values(name: str) -> np.ndarray:
        own = [extent if random.integers(3) else 1 for extent in shape[random.integers(len(shape)) :]]
        found = random.integers(0, 3, own if name != "X" else shape).astype(dtype)
        if dtype == "float32" and random.integers(2):
            found = np.where(random.integers(4, size=found.shape) == 0, np.float32("nan"), found)
        return found if name != "C" else found.astype(bool)

    operator = BY_NAME[op]
    inputs = [values(name) for name in operator.inputs]
    site = site_of(operator, inputs)
    assert kernel_errors(operator, KERNEL_OF[op], site, inputs, random, tmp_path) == []


def test_nan_is_in_no_order() -> None:
    nan, one = np.full(1, np.nan, np.float32), np.ones(1, np.float32)
    for op in ("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"):
        for pair in ([nan, one], [one, nan], [nan, nan]):
            assert not BY_NAME[op].reference(site_of(BY_NAME[op], pair), pair)[0].any()


@pytest.mark.parametrize(
    ("op", "types", "reason"),
    [
        ("Equal", ("float32", "int32"), "one type"),
        ("And", ("int8", "int8"), "must be bool"),
        ("Not", ("int8",), "must be bool"),
        ("Where", ("int8", "int8", "int8"), "C must be bool"),
        ("Where", ("bool", "int8", "uint8"), "one type"),
    ],
)
def test_types_that_do_not_fit_are_refused(op: str, types: tuple[str, ...], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason):
        site_of(BY_NAME[op], [np.zeros(2, dtype) for dtype in types])


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(TilewrightError, match="do not broadcast"):
        site_of(BY_NAME["Less"], [np.zeros(2, np.int8), np.zeros(3, np.int8)])


def test_inputs_as_large_as_the_output_may_share_its_bytes() -> None:
    truths = np.zeros((2, 3), bool)
    site = site_of(BY_NAME["Where"], [truths, np.zeros((2, 3), np.float32), np.zeros(3, np.float32)])
    assert layer_of(BY_NAME["Where"], KERNEL_OF["Where"], site).in_place == (("A", "Y"),)
    negated = site_of(BY_NAME["Not"], [truths])
    assert layer_of(BY_NAME["Not"], KERNEL_OF["Not"], negated).in_place == (("X", "Y"),)


BITS_BY_NAME = {operator.name: (operator, kernel) for operator, kernel in zip(OPERATORS, KERNELS, strict=True)}
BITS_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def edges(dtype: str) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.array([info.min, max(info.min, -3), 0, 1, 5, info.max - 1, info.max], dtype)


@pytest.mark.parametrize("dtype", BITS_TYPES)
@pytest.mark.parametrize("name", ["BitwiseAnd", "BitwiseOr", "BitwiseXor"])
def test_bit_by_bit(name: str, dtype: str, tmp_path: Path) -> None:
    inputs = [edges(dtype).reshape(-1, 1), edges(dtype)]
    operator, kernel = BITS_BY_NAME[name]
    assert kernel_errors(operator, kernel, site_of(operator, inputs), inputs, np.random.default_rng(1), tmp_path) == []


@pytest.mark.parametrize("dtype", BITS_TYPES)
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_shifts(direction: str, dtype: str, tmp_path: Path) -> None:
    width = 8 * np.dtype(dtype).itemsize
    counts = [0, 1, 3, width - 1, width, width + 1, 100]
    inputs = [edges(dtype).reshape(-1, 1), np.array([*counts, *([-1] if dtype[0] == "i" else [])], dtype)]
    operator, kernel = BITS_BY_NAME["BitShift"]
    site = site_of(operator, inputs, {"direction": direction})
    assert kernel_errors(operator, kernel, site, inputs, np.random.default_rng(2), tmp_path) == []


def test_to_the_right_is_a_division_that_rounds_down() -> None:
    inputs = [np.array([-5, -1, 5], np.int32), np.array([1], np.int32)]
    operator, _ = BITS_BY_NAME["BitShift"]
    site = site_of(operator, inputs, {"direction": "RIGHT"})
    assert operator.reference(site, inputs)[0].tolist() == [-3, -1, 2]
