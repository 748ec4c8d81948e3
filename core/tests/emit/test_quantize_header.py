"""`NAME_quantize.h`: the same integers as the reference of QuantizeLinear, bit by bit, in strict C and in C++."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.comparison.vectors import quantised
from tilewright.ir.graphs.graph import Graph, Node, Quantization, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.quantize import QUANTIZE

STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
MAIN = """
#include "toy_quantize.h"
#include <stdio.h>
int main(void)
{
    static float real[TOY_OUT_Y_ELEMENTS];
    static %(type)s stored[TOY_OUT_Y_ELEMENTS];
    if (fread(real, sizeof real[0], TOY_IN_X_ELEMENTS, stdin) != TOY_IN_X_ELEMENTS) return 1;
    toy_quantize_x(real, stored);
    fwrite(stored, sizeof stored[0], TOY_IN_X_ELEMENTS, stdout);
    toy_dequantize_y(stored, real);
    fwrite(real, sizeof real[0], TOY_OUT_Y_ELEMENTS, stdout);
    return 0;
}
"""


def quantised_graph(toy: Any, tensor: Tensor) -> Graph:
    """y = reverse(x), both as `tensor` says."""
    graph = toy.graph(names=("x", "y"), length=tensor.elements)
    return replace(
        graph,
        nodes=(Node(name="turn", op="ToyReverse", inputs=("x",), outputs=("y",)),),
        tensors={name: replace(tensor, name=name) for name in ("x", "y")},
        constants={},
    )


def values(scale: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Every half, its neighbours on both sides, and what lies outside every type."""
    halves = (np.arange(-140_000, 140_000, 7, dtype=np.float32) / 2) * np.float32(scale)
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 3e38, -3e38], np.float32)
    return np.concatenate([halves, np.nextafter(halves, np.float32(1e9)), np.nextafter(halves, np.float32(-1e9)), odd])


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize(
    ("dtype", "scale", "zero"),
    [(DType.I8, 0.1, -3), (DType.U8, 1 / 3, 255), (DType.I16, 1e-4, 0), (DType.U16, 2.5, 65_535)],
)
def test_it_stores_what_the_reference_stores(
    toy: Any, cc: Any, cxx: Any, tmp_path: Path, language: str, dtype: DType, scale: float, zero: int
) -> None:
    real = values(scale)
    meaning = Quantization(scale=(float(np.float32(scale)),), zero_point=(zero,))
    tensor = Tensor(name="x", dtype=dtype, shape=(1, real.size), quantization=meaning)
    files = toy.write(toy.artifact(toy.program(quantised_graph(toy, tensor))), tmp_path / "toy")
    source = tmp_path / ("main.c" if language == "c" else "main.cpp")
    source.write_text(MAIN % {"type": dtype.c_type})
    compiler, standard = (cc, "-std=c11") if language == "c" else (cxx, "-std=c++11")
    program = tmp_path / "program"
    flags = (standard, *STRICT, "-fsanitize=undefined", "-fno-sanitize-recover=all", f"-I{files}")
    subprocess.run([*compiler(*flags), "-o", str(program), str(source)], check=True)
    said = subprocess.run([str(program)], input=real.tobytes(), capture_output=True, check=True).stdout
    operators: dict[str, Operator] = {"QuantizeLinear": QUANTIZE}
    expected = quantised(tensor, real[None], operators)[0]
    stored = np.frombuffer(said[: expected.nbytes], dtype.numpy)
    np.testing.assert_array_equal(stored, expected)
    back = (expected.astype(np.float32) - np.float32(zero)) * np.float32(scale)
    np.testing.assert_array_equal(np.frombuffer(said[expected.nbytes :], np.float32), back)


def test_it_is_there_only_where_something_is_quantised(toy: Any) -> None:
    assert "toy_quantize.h" in toy.artifact(toy.program(toy.graph())).files
    assert "toy_quantize.h" not in toy.artifact(toy.program(toy.float_graph())).files


def test_the_read_me_names_scale_zero_point_and_function(toy: Any) -> None:
    text = toy.artifact(toy.program(toy.graph())).files["README.md"].decode()
    assert "| mfcc:0 | int8_t | 0.1 | -3 | `toy_quantize_mfcc_0(real, stored)` |" in text
    assert "Quantised" not in toy.artifact(toy.program(toy.float_graph())).files["README.md"].decode()
