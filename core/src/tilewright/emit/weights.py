"""Knows the bytes of every constants blob, and how bytes and numbers are written as C initialisers.
Does not know how a blob gets into the program; the templates do.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tilewright.c_text.literals import c_element
from tilewright.ir.programs.program import Program, ProgramPool
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

PER_LINE = 16


def blob(program: Program, pool: ProgramPool) -> bytes:
    """The header (plan id, length, zeros) and every constant at its planned offset, little endian."""
    plan = program.allocated
    content = bytearray(pool.size_bytes)
    struct.pack_into("<II", content, 0, plan.plan_id, pool.size_bytes)
    for name, array in plan.tiled.scheduled.bound.constants.items():
        placement = plan.placements.get(name)
        if placement is not None and placement.memory == pool.memory:
            data = array.astype(array.dtype.newbyteorder("<")).tobytes()
            content[placement.offset_bytes : placement.offset_bytes + len(data)] = data
    return bytes(content)


def byte_array(content: bytes) -> str:
    """The body of a `uint8_t` initialiser, short decimal numbers."""
    return _lines([str(byte) for byte in content])


def initialiser(array: Array) -> str:
    """The body of an initialiser of the array's elements, row-major; `0` for an empty one."""
    dtype = DType.from_numpy(array.dtype)
    flat = array.reshape(-1)
    return _lines([c_element(value, dtype) for value in flat.tolist()])


def _lines(items: Sequence[str]) -> str:
    rows = [", ".join(items[start : start + PER_LINE]) for start in range(0, len(items), PER_LINE)]
    return ",\n".join(f"    {row}" for row in rows) or "    0"
