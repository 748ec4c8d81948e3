"""The engine's model in C computes jobs as numpy does: every mode, width of weights, and type of values and outputs."""

from __future__ import annotations

import ctypes
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.runners.toolchain import find_compiler
from tilewright_siracusa.kernels.sources import c_fragment
from tilewright_siracusa.neureka.packing import offset_and_bits, packed_channels, packed_points, packed_taps

HEAD = """
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#define TW_KERNEL __attribute__((unused)) static
"""
CALL = """
void job(const int32_t *n, const void *x, const void *w, void *y, const void *scales, const void *biases)
{
    tw_neureka_start((tw_neureka_job){n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11],
        (uint32_t)n[12], n[13]}, x, w, y, scales, biases);
    tw_neureka_wait(0);
}
"""
MODES = ("taps", "channels", "points")
Integers = np.ndarray[Any, np.dtype[np.int64]]
pytestmark = pytest.mark.slow


@cache
def model() -> Any:
    """The function `job` of the model."""
    fragment = c_fragment("neureka.c")
    text = "\n".join([HEAD, *(need.text for need in (*fragment.needs[0].needs, *fragment.needs)), fragment.text, CALL])
    with TemporaryDirectory() as folder:
        (Path(folder) / "job.c").write_text(text, encoding="ascii")
        command = [*find_compiler().command, "-w", "-O1", "-shared", "-fPIC", "-o", "job.so", "job.c", "-lm"]
        subprocess.run(command, cwd=folder, check=True)
        return ctypes.CDLL(str(Path(folder) / "job.so")).job


def packed(mode: str, weights: Integers) -> tuple[np.ndarray[Any, Any], int, int]:
    """Words of weights [outputs, side, side, inputs], the offset, and the bits that jobs are told."""
    stored = offset_and_bits(weights)
    assert stored is not None
    offset, bits = stored
    if mode == "points":
        return packed_points(weights.reshape(len(weights), -1), offset), offset, 8
    if mode == "taps":
        return packed_taps(weights, offset, bits), offset, bits
    return packed_channels(weights[..., 0], offset, bits), offset, bits


def sums(mode: str, x: Integers, weights: Integers, pads: tuple[int, int, int, int]) -> Integers:
    """Of [rows, columns, inputs]; `pads`: top, left, bottom, right."""
    side = weights.shape[1]
    wide = np.pad(x, ((pads[0], pads[2]), (pads[1], pads[3]), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (side, side), axis=(0, 1))  # [rows, columns, inputs, ., .]
    indices = "ijcab,cabz->ijc" if mode == "channels" else "ijcab,oabc->ijo"
    result: Integers = np.einsum(indices, windows, weights)
    return result


@settings(max_examples=60, deadline=None)
@given(
    mode=st.sampled_from(MODES),
    bits=st.integers(2, 8),
    unsigned_weights=st.booleans(),
    signed=st.booleans(),
    output=st.sampled_from(("i8", "u8", "sums")),
    wide_scales=st.booleans(),
    extents=st.tuples(st.integers(3, 9), st.integers(3, 9)),
    channels=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    pads=st.tuples(*[st.integers(0, 1)] * 4),
    seed=st.integers(0, 1000),
)
def test_jobs(
    mode: str, bits: int, unsigned_weights: bool, signed: bool, output: str, wide_scales: bool,
    extents: tuple[int, int], channels: tuple[int, int], pads: tuple[int, int, int, int], seed: int,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    inputs, outputs = channels if mode != "channels" else (channels[0], channels[0])
    pads = (0, 0, 0, 0) if mode == "points" else pads
    side, deep = (1 if mode == "points" else 3), (1 if mode == "channels" else inputs)
    least = 0 if unsigned_weights else -(2 ** (bits - 1))
    weights = rng.integers(least, least + 2**bits, (outputs, side, side, deep))
    x = rng.integers(-128 if signed else 0, 128 if signed else 256, (*extents, inputs))
    expected = sums(mode, x, weights, pads)
    words, offset, stored_bits = packed(mode, weights)
    rows, columns = expected.shape[:2]
    conf = {"taps": 0, "channels": 1, "points": 2}[mode] << 5 | stored_bits - 1 | 1 << 15 | signed << 26
    scales = rng.integers(1, 200, outputs)
    biases = rng.integers(-20000, 20000, outputs)
    each = 4 if output == "sums" else 1
    if output == "sums":
        conf |= 2 << 21 | 1 << 23
    else:
        conf |= 1 << 4 | 1 << 25 | 9 << 16 | (output == "i8") << 23 | (2 << 12 if wide_scales else 0)
        low, high = (-128, 127) if output == "i8" else (0, 255)
        expected = np.clip(expected * scales + biases >> 9, low, high)
    numbers = np.array(
        [rows, columns, inputs, outputs, pads[0], pads[1], pads[2], pads[3], inputs, inputs * extents[1],
         each * outputs, each * outputs * columns, conf, offset], np.int32,
    )  # fmt: skip
    y = np.zeros(expected.shape, {"sums": np.int32, "i8": np.int8, "u8": np.uint8}[output])
    operands = (
        numbers, x.astype(np.int8 if signed else np.uint8), np.ascontiguousarray(words), y,
        scales.astype(np.int32 if wide_scales else np.uint8), biases.astype(np.int32),
    )  # fmt: skip
    model()(*(ctypes.c_void_p(operand.ctypes.data) for operand in operands))
    np.testing.assert_array_equal(y, expected)
