"""Straight-line programs: what is read from their lines, and their C beside the lines played in Python."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.kernel import CodeFragment
from tilewright.ir.code_fragments import ordered
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.runners.toolchain import find_compiler
from tilewright_riscv.floats.lanes import LANES, Dialect, Line, Program, divisions, function_text, loop_instructions
from tilewright_riscv.floats.sections import function_section

RELU = "TW_KERNEL float acme_f32_relu(float value)\n{\n    return value < 0 ? 0 : value;\n}"
ROOT = "TW_KERNEL float acme_f32_root(float value)\n{\n    return __builtin_sqrtf(value);\n}"
DIALECT = Dialect(
    prefix="acme", owner="acme", fpu=CodeFragment(name="fpu", text=f"#define ACME_APART static\n{RELU}\n{ROOT}")
)
PLAY: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "abs": np.abs, "sign": np.copysign,
    "max": np.maximum, "min": np.minimum, "relu": lambda a: np.maximum(a, np.float32(0)), "word": lambda a: a,
    "fma": lambda a, b, c: a * b + c, "less": lambda a, b, c: -a * b + c,
    "guess": lambda a: (np.uint32(0x7EF311C7) - a.view(np.uint32)).view(np.float32),
    "power": lambda a: (a.view(np.uint32) << np.uint32(23)).view(np.float32),
}  # fmt: skip

CURVE = Program(
    name="curve", comment="a curve", inputs=("x", "z"), numbers=("gain",),
    constants={"half": "0.5f", "top": "gain + 1.0f"}, keeps_nan=True,
    lines="""
        a = mul x gain
        a = less a half z
        b = abs a
        b = min b top
        b = sign b x
        y = relu b
        y = fma y half z
        y = div y top
    """,
)  # fmt: skip
SUM = Program(name="total", comment="sums", lines="s = add s x\nm = max m x", sums=("s", "m"), result="")
POWER = Program(
    name="power", comment="2 ** k", lines="w = add x shift\nk = word w\nb = sub w shift\nq = power k\ny = mul q b",
    constants={"shift": "12582912.0f"}, apart=True,
)  # fmt: skip


def library(folder: Path, program: Program) -> ctypes.CDLL:
    """The C for any machine: the macro of this one is not defined."""
    sections = ordered((c_fragment("prelude.h"), DIALECT.fpu, *_below(function_section(program, DIALECT))))
    text = "\n".join(("#include <stdint.h>", "#include <math.h>", *(section.text for section in sections)))
    pointer = f"void *at_{program.name} = {DIALECT.function(program)};"  # the function itself is static
    (folder / "f.c").write_text(f"{text}\n{pointer}\n", encoding="ascii")
    flags = ("-std=gnu11", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC")
    subprocess.run([*find_compiler().command, *flags, "-o", "f.so", "f.c", "-lm"], check=True, cwd=folder)
    return ctypes.CDLL(str(folder / "f.so"))


def _below(section: CodeFragment) -> tuple[CodeFragment, ...]:
    """The section with the scalar functions that it needs, the root of the dialect aside."""
    return (*(need for need in section.needs if not need.name.endswith("root.inc")), section)


def call(found: ctypes.CDLL, program: Program, count: int, *arguments: np.ndarray | float | int) -> None:
    """Arrays as pointers, floats as `float`, integers as `int32_t`."""
    kinds = {np.ndarray: ctypes.c_void_p, float: ctypes.c_float, int: ctypes.c_int32}
    address = ctypes.c_void_p.in_dll(found, f"at_{program.name}").value
    assert address is not None
    form = ctypes.CFUNCTYPE(None, ctypes.c_int32, *(kinds[type(each)] for each in arguments))
    form(address)(count, *(each.ctypes.data if isinstance(each, np.ndarray) else each for each in arguments))


def play(program: Program, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    for line in program.parsed:
        values[line.target] = PLAY[line.operation](*(values[name] for name in line.operands))
    return values


@pytest.mark.parametrize("count", [1, LANES - 1, LANES, 3 * LANES + 2])
@pytest.mark.parametrize("steps", [(1, 1, 1), (2, 3, 2)])
def test_every_element(count: int, steps: tuple[int, int, int], tmp_path: Path) -> None:
    rng = np.random.default_rng(count)
    x, z = (rng.standard_normal(3 * count).astype(np.float32) for _ in range(2))
    x[0] = np.nan
    y = np.full(3 * count, 7, np.float32)
    gain = np.float32(1.5)
    call(library(tmp_path, CURVE), CURVE, count, x, steps[0], z, steps[1], y, steps[2], float(gain))
    read = {"x": x[:: steps[0]][:count], "z": z[:: steps[1]][:count]}
    wanted = play(CURVE, {**read, "gain": gain, "half": np.float32(0.5), "top": np.float32(2.5)})["y"]
    wanted[0] = np.nan  # NaN of the first input stays
    np.testing.assert_array_equal(y[:: steps[2]][:count], wanted)
    assert (np.delete(y, np.arange(count) * steps[2]) == 7).all()


def test_sums_go_on_from_run_to_run(tmp_path: Path) -> None:
    """Four of each, in an array; what is left over goes into the first."""
    found, sums = library(tmp_path, SUM), np.array([0, 0, 0, 0, -9, -9, -9, -9], np.float32)
    x = np.array([1, 2, 4, 8, 16, 32], np.float32)
    for _ in range(2):
        call(found, SUM, 6, x, 1, sums)
    assert sums.tolist() == [2 * (1 + 16 + 32), 4, 8, 16, 32, 2, 4, 8]


def test_words_become_powers_of_two(tmp_path: Path) -> None:
    """The magic number leaves x, rounded, in the lowest bits; shifted, these are exponents of 127 more."""
    x, y = np.array([127, 129, 120.4, 130.6], np.float32), np.zeros(4, np.float32)
    call(library(tmp_path, POWER), POWER, 4, x, 1, y, 1)
    assert y.tolist() == [2.0 ** (k - 127) * k for k in (127, 129, 120, 131)]


def test_guesses_are_differences_of_words(tmp_path: Path) -> None:
    guess = Program(name="guess", comment="1 / x, roughly", lines="y = guess x")
    x, y = np.array([1, -3, 1e-9, 7e20], np.float32), np.zeros(4, np.float32)
    call(library(tmp_path, guess), guess, 4, x, 1, y, 1)
    np.testing.assert_allclose(y * x, 1, rtol=0.0506)
    np.testing.assert_array_equal(y, PLAY["guess"](x))


def test_what_is_beyond_has_lines_of_its_own(tmp_path: Path) -> None:
    """No loop of instructions here, so that all of the run is beyond."""
    half = Program(name="half", comment="x / 2", lines="y = mul x x", within=("x",), beyond="y = add x x")
    x, y = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    call(library(tmp_path, half), half, 6, x, 1, y, 1)
    assert y.tolist() == [0, 2, 4, 6, 8, 10]
    conditions = [line for line in function_text(half, DIALECT).splitlines() if line.strip().startswith("if (")]
    assert "acme_f32_within(count, x_in, x_step, 0x1p-60f, 0x1p60f)" in conditions[0]


@pytest.mark.parametrize(("program", "stepping", "loops"), [(POWER, True, 2), (SUM, True, 1), (POWER, False, 1)])
def test_loops_of_what_is_long_step(program: Program, stepping: bool, loops: int) -> None:
    text = function_text(program, replace(DIALECT, stepping=stepping))
    assert text.count("ACME_LOOP_END") == loops
    assert ("add %[x_in], %[x_in], %[x_in_by]" in text) == (loops > 1)


def test_lines() -> None:
    assert CURVE.parsed[1] == Line(target="a", operation="less", operands=("a", "half", "z"))
    assert CURVE.variables == ("x", "z", "a", "b", "y") and SUM.variables == ("x",)
    assert POWER.variables == ("x", "w", "k", "b", "q", "y") and "k" not in POWER.registers
    assert [divisions(program) for program in (CURVE, SUM)] == [1, 0]


def test_instructions_of_a_trip() -> None:
    """Loads, each line on every lane, stores, and pointers; a `relu` goes through words and back."""
    assert loop_instructions(SUM) == LANES * (1 + 2) + 1
    assert loop_instructions(CURVE) == LANES * (2 + 7 + 3 + 1) + 3
    assert loop_instructions(POWER) == LANES * (1 + 3 + 1 + 2 + 1) + 2


@pytest.mark.parametrize("program", [CURVE, SUM, POWER], ids=lambda program: program.name)
def test_the_text(program: Program) -> None:
    lines = function_text(program, DIALECT).splitlines()
    assert lines[0] == f"/* {program.comment} */" and max(map(len, lines)) <= 120
    assert lines[1].startswith(
        f"{'ACME_APART' if program.apart else 'TW_KERNEL'} void acme_f32_{program.name}(int32_t count"
    )
    dense = next(line for line in lines if line.strip().startswith("if ("))
    assert ("acme_f32_any_nan(count, x_in, x_step)" in dense) == program.keeps_nan
