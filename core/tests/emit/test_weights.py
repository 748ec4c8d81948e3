"""Constants as bytes and as initialisers: where each lies, and that C reads the same numbers."""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tilewright.emit.weights import PER_LINE, blob, byte_array, initialiser


def test_a_blob_has_a_header_and_every_constant_in_its_place(toy: Any) -> None:
    program = toy.program(toy.graph())
    plan, (pool,) = program.allocated, program.constants
    found = blob(program, pool)
    assert len(found) == pool.size_bytes
    assert struct.unpack("<II", found[:8]) == (plan.plan_id, pool.size_bytes)
    constants = plan.tiled.scheduled.bound.constants
    covered = bytearray(found[8:])
    for name, array in constants.items():
        start = plan.placements[name].offset_bytes
        assert start >= 8 and found[start : start + array.nbytes] == array.tobytes()
        covered[start - 8 : start - 8 + array.nbytes] = bytes(array.nbytes)
    assert constants and not any(covered)  # the rest is zeros


def test_numbers_are_little_endian(toy: Any) -> None:
    program = toy.program(toy.graph())
    (pool,) = program.constants
    scheduled = program.allocated.tiled.scheduled
    constants = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in scheduled.bound.constants.items()}
    bound = replace(scheduled.bound, constants=constants)
    tiled = replace(program.allocated.tiled, scheduled=replace(scheduled, bound=bound))
    other = replace(program, allocated=replace(program.allocated, tiled=tiled))
    assert blob(other, pool)[8:] == blob(program, pool)[8:]


@given(st.binary(max_size=70))
def test_bytes(content: bytes) -> None:
    text = byte_array(content)
    assert bytes(int(word) for word in text.split(",")) == (content or b"\0")  # C has no empty initialiser
    assert all(line.startswith("    ") and line.count(",") <= PER_LINE for line in text.splitlines())


@pytest.mark.slow
@given(arrays.arrays(st.sampled_from([np.int8, np.uint16, np.int32]), st.integers(0, 40)))
def test_integers(array: np.ndarray) -> None:
    words = re.findall(r"-?\d+", re.sub(r"INT32_MIN|\(-2147483647 - 1\)", "-2147483648", initialiser(array)))
    assert [int(word) for word in words] == (array.tolist() or [0])


@pytest.mark.parametrize("shape", [(2, 3), (6,), ()])
def test_floats_row_major(shape: tuple[int, ...]) -> None:
    array = np.linspace(-1.1, 3.3, max(int(np.prod(shape)), 1), dtype=np.float32).reshape(shape)
    found = [float.fromhex(word.strip().removesuffix("f")) for word in initialiser(array).split(",")]
    assert found == array.ravel().tolist()
