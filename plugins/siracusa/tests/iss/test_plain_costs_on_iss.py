"""What plain C of 16 bits and of recurrences is said to take, beside what compiled loops take on one simulated core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from iss_run import run_on_iss

from tilewright.api.graph import DType, Requant
from tilewright.api.testing import Sample, site_of, vocabulary
from tilewright.testing.integer_recurrences import integer_recurrence
from tilewright.testing.one_step import portable_kernels
from tilewright_siracusa.portable import portable_cycles

LEAST, MOST = 0.6, 1.15  # of what is said: this core waits for no instructions, nor for others
NUMBERS = np.random.default_rng(7)
WORDS = {"low": -32768, "high": 32767, "output_type": "i16"}


def words(*shape: int) -> np.ndarray:
    return NUMBERS.integers(-32768, 32768, shape).astype(np.int16)


def added(scale: float) -> Sample:
    zeros = {"a_zero_point": 0, "b_zero_point": 0, "zero_point": 0}
    attributes = {**WORDS, **zeros, "a_scale": scale, "b_scale": 0.25}
    return Sample(op="QAdd", kind=f"times {scale}", inputs=(words(8, 60), words(8, 60)), attributes=attributes)


def multiplied() -> Sample:
    requant = Requant(scale=(float(np.float32(2e-5)),), zero_point=0, low=-32768, high=32767)
    attributes = {"a_zero_point": 0, "b_zero_point": 0, "requant": requant, "output_type": "i16"}
    return Sample(op="QMul", kind="", inputs=(words(8, 60), words(8, 60)), attributes=attributes)


def stepped(op: str, kernel: str, gates: int) -> Sample:
    arrays = [NUMBERS.normal(0, 0.5, shape).astype(np.float32) for shape in ((6, 1, gates * 20), (gates * 20, 20))]
    names = ("Sigmoid", "Tanh", "Tanh")[: 3 if gates == 4 else 2]
    zeros = (0.0,) * len(names)
    attributes = {"activations": names, "alphas": zeros, "betas": zeros, "reverse": 0, "linear_before_reset": 0}
    return Sample(op=op, kind=kernel, inputs=(*arrays, *(None,) * 5), attributes=attributes, constants=(1,))


LAYERS = [
    (added(0.5), "qadd"),
    (added(float(np.float32(0.3))), "qadd"),
    (multiplied(), "qmul"),
    *(
        (integer_recurrence(NUMBERS, op, optional=False, dtype=dtype, shape=(6, 1, 14, 18)), op.lower())
        for op in ("QLSTM", "QGRU")
        for dtype in (DType.I8, DType.I16)
    ),
    (stepped("LSTMSteps", "lstm_f32", 4), "lstm_f32"),
    (stepped("GRUSteps", "gru_f32", 3), "gru_f32"),
]


@pytest.mark.parametrize(("layer", "kernel"), LAYERS, ids=[f"{layer.name}-{name}" for layer, name in LAYERS])
def test_as_long_as_it_is_said(layer: Sample, kernel: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    operator = vocabulary()[layer.op]
    site = site_of(operator, layer.inputs, layer.attributes, layer.constants)
    cycles = portable_cycles(site)
    taken = run_on_iss(operator, portable_kernels()[f"portable.{kernel}"], site, layer.inputs, tmp_path).cycles
    assert cycles is not None
    assert LEAST * cycles < taken < MOST * cycles
