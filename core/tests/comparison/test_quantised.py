"""Real values become what a tensor stores exactly as QuantizeLinear has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.comparison.quantised import quantised, stores_real
from tilewright.comparison.vectors import read_vectors
from tilewright.ir.graphs.graph import Quantization, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.quantize import QUANTIZE

OPERATORS = {"QuantizeLinear": QUANTIZE}
X = Tensor(name="x", dtype=DType.I8, shape=(1, 4), quantization=Quantization(scale=(0.5,), zero_point=(-3,)))
REAL = np.array([[0.25, 0.75, -1000.0, np.nan]], np.float32)
STORED = [[-3, -1, -128, -3]]


def test_halves_go_to_the_even_one_and_ends_are_kept() -> None:
    assert quantised(X, REAL, OPERATORS).tolist() == STORED


def test_vectors_of_real_values_are_taken_for_quantised_tensors(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", **{"set0/in/x": REAL.reshape(4), "set0/out/y": np.array(STORED, np.int8)})
    (found,) = read_vectors(tmp_path / "v.npz", {"x": X}, {"y": X}, OPERATORS)
    assert (found.inputs["x"].tolist(), found.outputs["y"].tolist()) == (STORED, STORED)


def test_only_floats_of_tensors_with_one_scale_are_real_values() -> None:
    plain = Tensor(name="x", dtype=DType.I8, shape=(1, 4))
    assert stores_real(X, REAL)
    assert not stores_real(X, np.zeros((1, 4), np.int8))
    assert not stores_real(plain, REAL)
    with pytest.raises(ValueError, match="not quantised"):
        quantised(plain, REAL, OPERATORS)
