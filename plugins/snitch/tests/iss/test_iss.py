"""The simulated core: instructions that kernels rely on, streams, repetition, waiting, and what it refuses."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import float_numbers as floats
import ml_dtypes
import numpy as np
import pytest
from snitch_run import CODE, GCC, Memory, called, image_of, run_on_iss
from streams import FaultError, Stream

from tilewright.api.testing import site_of
from tilewright.testing.one_step import portable_kernels, vocabulary

PLACE = 0x1000_0000
HEAD = """
#include <stdint.h>
#define TW_SNITCH 1
#define TW_KERNEL static inline __attribute__((always_inline, unused))
#define SET(stream, index, value) \\
    __asm__ volatile(".insn i 0x2b, 2, x0, %0, %1" ::"r"(value), "i"((stream) | (index) << 5) : "memory")
#define CSR(text) __asm__ volatile(".option push\\n.option arch, +zicsr\\n" text "\\n.option pop" ::: "memory")
#define SETTLE() do { uint32_t t; __asm__ volatile("fmv.x.w %0, fa0\\nmv %0, %0" : "=r"(t)::"memory"); } while (0)
void tw_test(uint32_t place);
"""


@pytest.fixture(name="run")
def _run(tool: Callable[[str], str], tmp_path: Path) -> Callable[[str, bytes], tuple[Memory, object]]:
    """Executes the body of a function whose argument is where the given bytes are."""
    tool("riscv64-unknown-elf-gcc")

    def run(body: str, data: bytes) -> tuple[Memory, object]:
        flags = [flag for flag in GCC if flag not in ("-DTW_SNITCH=1", "-Werror")]
        image, entry = image_of(f"{HEAD}void tw_test(uint32_t place)\n{{\n{body}\n}}\n", tmp_path, flags)
        memory = Memory(image)
        assert entry >= CODE
        memory.write(PLACE, data)
        return memory, called(memory, entry, PLACE)

    return run


DOT = """
    uint32_t times = 6;
    SET(0, 2, 7); SET(0, 6, 8); SET(1, 2, 7); SET(1, 6, 8); SET(0, 1, 0); SET(1, 1, 0);
    SET(0, 24, place); SET(1, 24, place + 64);
    CSR("csrsi 0x7C0, 1");
    __asm__ volatile("fmul.d fa1, ft0, ft1\\n.insn i 0x0b, 0, x1, %0, 0\\nfmadd.d fa1, ft0, ft1, fa1\\nfsd fa1, 128(%1)"
                     :: "r"(times), "r"(place) : "fa1", "ft0", "ft1", "memory");
    SETTLE();
    CSR("csrci 0x7C0, 1");
"""


def test_streams_and_repetition(run: Callable[..., tuple[Memory, object]]) -> None:
    a, b = np.arange(1.0, 9.0), np.linspace(-1, 1, 8)
    memory, core = run(DOT, a.tobytes() + b.tobytes())
    assert struct.unpack("<d", memory.read(PLACE + 128, 8))[0] == pytest.approx(float(a @ b))
    assert core.floats.counts["products"] == 8
    assert core.floats.stalls >= 7 * 3  # every product waits for the one before


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("times = 6", "times = 5", "elements are left"),
        ("times = 6", "times = 7", "no element"),
        ("SETTLE();", "", "while the float unit works"),
        ("place + 64", "place + 68", "no multiple of 8"),
        ("SET(1, 24", "SET(1, 28", "no element to read"),
        ("place + 64", "0x80000040", "not in TCDM"),
    ],
)
def test_misuse_of_streams_is_named(old: str, new: str, words: str, run: Callable[..., object]) -> None:
    assert old in DOT
    with pytest.raises(FaultError, match=words):
        run(DOT.replace(old, new), bytes(128))


WRITE = """
    uint32_t times = 7;
    SET(0, 1, 0); SET(0, 2, 7); SET(0, 6, 8); SET(0, 24, place);
    SET(2, 1, 0); SET(2, 2, 7); SET(2, 6, 8); SET(2, 28, place + 64);
    CSR("csrsi 0x7C0, 1");
    __asm__ volatile(".insn i 0x0b, 0, x1, %0, 0\\nfadd.d ft2, ft0, fa1" :: "r"(times) : "ft0", "ft2", "memory");
    SETTLE();
    WAIT();
    CSR("csrci 0x7C0, 1");
"""
WAIT = """int32_t status; do { __asm__ volatile(".insn i 0x2b, 1, %0, x0, 2" : "=r"(status)); } while (status >= 0)"""


def test_a_stream_that_writes_is_waited_for(run: Callable[..., tuple[Memory, object]]) -> None:
    values = np.arange(8.0)
    memory, _ = run(WRITE.replace("WAIT()", WAIT), values.tobytes())
    np.testing.assert_array_equal(np.frombuffer(memory.read(PLACE + 64, 64)), values)
    with pytest.raises(FaultError, match="on their way"):
        run(WRITE.replace("WAIT();", ""), values.tobytes())


def test_an_integer_load_before_the_float_store_is_named(run: Callable[..., object]) -> None:
    body = """
    uint32_t word;
    __asm__ volatile("fsd fa0, 0(%1)\\nlw %0, 0(%1)" : "=r"(word) : "r"(place) : "memory");
    """
    with pytest.raises(FaultError, match="has yet to write"):
        run(body, bytes(8))


LANES = {
    "0x41": lambda a, b, c: a + b,
    "0x42": lambda a, b, c: a - b,
    "0x43": lambda a, b, c: a * b,
    "0x45": lambda a, b, c: np.minimum(a, b),
    "0x46": lambda a, b, c: np.maximum(a, b),
    "0x48": lambda a, b, c: (a.astype(np.float64) * b + c).astype(np.float32),
}


@pytest.mark.parametrize("function", LANES)
def test_two_lanes(function: str, run: Callable[..., tuple[Memory, object]]) -> None:
    body = f"""
    __asm__ volatile("fld fa1, 0(%0)\\nfld fa2, 8(%0)\\nfld fa3, 16(%0)\\n.insn r 0x33, 0, {function}, fa3, fa1, fa2\\n"
                     "fsd fa3, 24(%0)" :: "r"(place) : "fa1", "fa2", "fa3", "memory");
    """
    values = np.array([1.5, -2.25, 3.0, 0.1, 7.0, -1.0], np.float32)
    memory, _ = run(body, values.tobytes())
    found = np.frombuffer(memory.read(PLACE + 24, 8), np.float32)
    np.testing.assert_array_equal(found, LANES[function](values[:2], values[2:4], values[4:]))


HALF_LANES = {
    "0x41": lambda a, b, c: a + b,
    "0x42": lambda a, b, c: a - b,
    "0x43": lambda a, b, c: a * b,
    "0x45": lambda a, b, c: np.minimum(a, b),
    "0x46": lambda a, b, c: np.maximum(a, b),
    "0x48": lambda a, b, c: a * b + c,
}


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("function", HALF_LANES)
def test_four_lanes(function: str, dtype: Any, run: Callable[..., tuple[Memory, object]]) -> None:
    """Rounded once, as from float64."""
    body = f"""
    CSR("csrwi 0x800, {3 * (dtype is not np.float16)}");
    __asm__ volatile("fld fa1, 0(%0)\\nfld fa2, 8(%0)\\nfld fa3, 16(%0)\\n.insn r 0x33, 2, {function}, fa3, fa1, fa2\\n"
                     "fsd fa3, 24(%0)" :: "r"(place) : "fa1", "fa2", "fa3", "memory");
    SETTLE();
    CSR("csrwi 0x800, 0");
    """
    values = np.array([1.5, -2.25, 3e4, 0.1, 7.0, -1.0, 4e4, 3e-7, 0.5, 2.0, -1e3, 1.0]).astype(dtype)
    memory, _ = run(body, values.tobytes())
    found = np.frombuffer(memory.read(PLACE + 24, 8), dtype)
    with np.errstate(over="ignore"):
        expected = HALF_LANES[function](*values.astype(np.float64).reshape(3, 4)).astype(dtype)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["float16", "bfloat16"])
def test_conversions_of_halves(dtype: Any, run: Callable[..., tuple[Memory, object]]) -> None:
    """Ties go to the even one, what is too large becomes infinite."""
    body = f"""
    CSR("csrwi 0x800, {3 * (dtype is not np.float16)}");
    for (int i = 0; i < 6; ++i) {{
        __asm__ volatile("flw fa1, 0(%0)\\n.insn r 0x53, 0, 0x22, fa1, fa1, x0\\n.insn s 0x27, 1, fa1, 24(%1)\\n"
                         ".insn i 0x07, 1, fa2, 24(%1)\\n.insn r 0x53, 0, 0x20, fa2, fa2, x2\\nfsw fa2, 36(%0)"
                         :: "r"(place + 4 * i), "r"(place + 2 * i) : "fa1", "fa2", "memory");
    }}
    SETTLE();
    CSR("csrwi 0x800, 0");
    """
    step = np.finfo(np.float16).eps if dtype is np.float16 else 2.0**-7
    values = np.array([1 + step / 2, 1 + 1.5 * step, -0.0, 3.4e38, 0.1, 1e-7], np.float32)
    memory, _ = run(body, values.tobytes())
    stored = np.frombuffer(memory.read(PLACE + 24, 12), dtype)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(stored, values.astype(dtype))
    np.testing.assert_array_equal(np.frombuffer(memory.read(PLACE + 36, 24), np.float32), stored.astype(np.float32))


def test_elements_in_four_dimensions() -> None:
    stream = Stream(0)
    for index, (bound, stride) in enumerate(((1, 8), (2, 92), (0, 0), (1, 800))):
        stream.configure(2 + index, bound)
        stream.configure(6 + index, stride)
    stream.configure(1, 1)
    stream.configure(27, PLACE)
    found = [stream.next(writes=False) - PLACE for _ in range(2 * 2 * 3 * 2)]
    first = [0, 8, 100, 108, 200, 208]
    assert found[::2] == found[1::2] == [*first, *(one + 1008 for one in first)]
    assert stream.dimensions == 0


def test_numbers() -> None:
    assert floats.fma64(0.1, 10.0, -1.0) == 2.0**-54
    assert floats.bits32(0.1) == 0xFFFFFFFF_3DCCCCCD
    assert math.isnan(floats.single(0x3DCCCCCD))
    assert floats.lane_bits(1e300) == 0x7F800000
    assert math.copysign(1, floats.smaller(0.0, -0.0)) == -1
    assert floats.larger(math.nan, 2.0) == 2.0
    assert [floats.integer(value, 0, is_signed=True) for value in (2.5, -3.5, 1e12)] == [2, 0xFFFFFFFC, 0x7FFFFFFF]
    assert floats.integer(-1.0, 1, is_signed=False) == 0
    assert floats.divided(1.0, -0.0) == -math.inf


@pytest.mark.parametrize("columns", [(0, 4), (5, 9), (8, 12)])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_a_tile_knows_the_shape_of_the_whole_tensor(
    mode: str, columns: tuple[int, int], tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """Where Pad reads depends on it: with the tile's shape instead, inner columns came from before the tile."""
    tool("riscv64-unknown-elf-gcc")
    x = np.arange(40, dtype=np.int8).reshape(4, 10)
    operator = vocabulary()["Pad"]
    site = site_of(operator, [x], {"mode": mode, "pads": (1, 1, 1, 1), "value": 1})
    found = run_on_iss(operator, portable_kernels()["portable.pad"], site, [x], tmp_path, {"a1": columns})
    np.testing.assert_array_equal(found.outputs[0], operator.reference(site, [x])[0][:, slice(*columns)])
