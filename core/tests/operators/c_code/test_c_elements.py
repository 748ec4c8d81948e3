"""Floats of 16 bits in C: every conversion against numpy and ml_dtypes, and kernels that load and round them."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.code_fragments import ordered
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import Elements, c_moved, c_sum, conversions, element_names
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.operators.convolution import conv
from tilewright.operators.elementwise import binary, clip, unary
from tilewright.operators.products import gemm, matmul
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import refusal, site_of

HALVES = (DType.F16, DType.BF16)
halves = pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: dtype.value)
STRICT = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror", "-shared", "-fPIC")


@pytest.fixture(scope="module")
def library(cc: Callable[..., tuple[str, ...]], tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("halves")
    sections = ordered(conversions(*HALVES))
    calls = "".join(
        f"void load_{name}(int n, const uint16_t *x, float *y);\n"
        f"void load_{name}(int n, const uint16_t *x, float *y)\n"
        f"{{ for (int i = 0; i < n; ++i) {{ y[i] = tw_f32_of_{name}(x[i]); }} }}\n"
        f"void round_{name}(int n, const float *x, uint16_t *y);\n"
        f"void round_{name}(int n, const float *x, uint16_t *y)\n"
        f"{{ for (int i = 0; i < n; ++i) {{ y[i] = tw_{name}_of_f32(x[i]); }} }}\n"
        for name in ("f16", "bf16")
    )
    text = "\n".join(section.text for section in (c_fragment("prelude.h"), *sections))
    (folder / "h.c").write_text(f"#include <stdint.h>\n{text}\n{calls}")
    subprocess.run(cc(*STRICT, "h.c", "-o", "h.so"), cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "h.so"))


def call(library: ctypes.CDLL, name: str, x: np.ndarray, result: type) -> np.ndarray:
    y = np.empty(x.shape, result)
    getattr(library, name)(x.size, x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p))
    return y


def same_rounding(library: ctypes.CDLL, dtype: DType, x: np.ndarray) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = x.astype(dtype.numpy)
    found = call(library, f"round_{dtype.value}", x, np.uint16)
    nan = np.isnan(x)
    stays = np.isnan(found.view(dtype.numpy).astype(np.float32))
    return bool(np.array_equal(nan, stays) and np.array_equal(found[~nan], wanted.view(np.uint16)[~nan]))


@halves
def test_all_bits_are_loaded_and_come_back(library: ctypes.CDLL, dtype: DType) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    loaded = call(library, f"load_{dtype.value}", bits, np.float32)
    with np.errstate(invalid="ignore"):
        wanted = bits.view(dtype.numpy).astype(np.float32)
    nan = np.isnan(wanted)
    assert np.array_equal(loaded[~nan].view(np.uint32), wanted[~nan].view(np.uint32))
    assert np.isnan(loaded[nan]).all()
    again = call(library, f"round_{dtype.value}", loaded, np.uint16)
    assert np.array_equal(again[~nan], bits[~nan])


@halves
def test_between_neighbours_floats_are_rounded_as_numpy_does(library: ctypes.CDLL, dtype: DType) -> None:
    exact = np.arange(1 << 16, dtype=np.uint16).view(dtype.numpy).astype(np.float32)
    bits = exact.view(np.uint32).astype(np.int64)
    steps = [1 << 15] if dtype is DType.BF16 else [1 << 12, 1 << 20, 1 << 22]  # half a step, also of subnormals
    for offset in (-1, 1, *(step + near for step in steps for near in (-1, 0, 1))):
        x = (bits + offset).clip(0, 2**32 - 1).astype(np.uint32).view(np.float32)
        assert same_rounding(library, dtype, x), offset
    random = np.random.default_rng(3).integers(0, 2**32, 1_000_000, dtype=np.uint64).astype(np.uint32)
    assert same_rounding(library, dtype, random.view(np.float32))


@halves
@given(x=st.floats(width=32))
def test_any_float_is_rounded_as_numpy_does(library: ctypes.CDLL, dtype: DType, x: float) -> None:
    assert same_rounding(library, dtype, np.array([x], np.float32))


def test_names_for_templates() -> None:
    half, single = element_names(DType.F16), Elements(dtype=DType.F32)
    assert (half["kind"], half["stored"], half["real"]) == ("f16", "uint16_t", "float")
    assert (single.load("x[i]"), single.rounded("v"), conversions(DType.F32)) == ("x[i]", "v", ())
    assert Elements(dtype=DType.BF16).rounded("v") == "tw_bf16_of_f32(v)"


def numbers(dtype: DType, *shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype.numpy)


def layers(dtype: DType):
    same = {"pads": (1, 1, 1, 1), "strides": (1, 1), "dilations": (1, 1), "kernel_shape": (3, 3)}
    x, w, b = numbers(dtype, 1, 4, 5, 6), numbers(dtype, 6, 2, 3, 3), numbers(dtype, 6)
    yield conv, "Conv", [x, w, b], {**same, "group": 2, "clip_low": 0.0}, (1, 2)
    yield gemm, "Gemm", [numbers(dtype, 3, 7), numbers(dtype, 7, 6), b], {"alpha": 0.3, "beta": 1.7}, (1, 2)
    yield gemm, "Gemm", [numbers(dtype, 3, 7), numbers(dtype, 6, 7), b], {"transB": 1, "alpha": 0.3}, ()
    yield matmul, "MatMul", [numbers(dtype, 2, 3, 7), numbers(dtype, 2, 7, 5)], {}, ()
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
        yield binary, op, [numbers(dtype, 3, 4, 5), numbers(dtype, 4, 1)], {}, ()
    yield clip, "Clip", [numbers(dtype, 3, 9)], {"min": -0.3, "max": 0.7}, ()
    for op in ("Sigmoid", "Tanh", "Gelu", "Erf", "Exp", "Neg"):
        yield unary, op, [numbers(dtype, 3, 9)], {}, ()


@pytest.mark.slow
@halves
def test_kernels_compute_in_float_and_round_once(dtype: DType, tmp_path: Path) -> None:
    for family, op, inputs, attributes, constants in layers(dtype):
        operator = next(each for each in family.OPERATORS if each.name == op)
        site = site_of(operator, inputs, attributes, constants)
        fitting = [each for each in family.KERNELS if each.op == op and refusal(each, site) is None]
        assert fitting, op
        for kernel in fitting:
            random = np.random.default_rng(1)
            assert kernel_errors(operator, kernel, site, inputs, random, tmp_path) == [], (op, kernel.name)


VALUES = {"i": 3, "n0": 1000, "p": 7_000_000}
terms = st.lists(st.tuples(st.integers(-9, 9), st.sampled_from(["i", "n0", "0", "1", "12"])), max_size=4)


def wanted(written: list[tuple[int, str]]) -> int:
    return sum(factor * (VALUES[name] if name in VALUES else int(name)) for factor, name in written)


@given(constant=st.integers(-20, 20), written=terms)
def test_sums(constant: int, written: list[tuple[int, str]]) -> None:
    text = c_sum(constant, *written)
    assert eval(text, {}, VALUES) == constant + wanted(written)
    assert not {"0", "*0", "--"} & set(text.split()) or text == "0"


@given(written=terms)
def test_moved_pointers(written: list[tuple[int, str]]) -> None:
    text = c_moved("p", *written)
    assert eval(text, {}, VALUES) == VALUES["p"] + wanted(written)
    assert eval(f"{text} - p", {}, VALUES) == wanted(written)
    assert (text == "p") == (c_sum(0, *written) == "0")


@pytest.mark.parametrize(("constant", "written", "text"), [
    (0, [], "0"),
    (4, [(1, "i"), (-1, "j")], "4 + i - j"),
    (0, [(-2, "i")], "-2 * i"),
    (5, [(3, "2"), (0, "i"), (-11, "1")], "0"),
])  # fmt: skip
def test_as_a_person_would(constant: int, written: list[tuple[int, str]], text: str) -> None:
    assert c_sum(constant, *written) == text
