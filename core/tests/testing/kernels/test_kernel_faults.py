"""The faults that a kernel can have, each planted in one that is right: all are found, kernel and C are named."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.api.kernel import elementwise_walk, nest
from tilewright.errors import TilewrightError
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.testing.kernels.kernel_faults import kernel_faults
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_sites import site_of

NEG = vocabulary()["Neg"]
X = np.arange(1, 36, dtype=np.float32).reshape(5, 7)
SITE = site_of(NEG, [X])
SOURCE = """
TW_KERNEL void acme_neg(int32_t count, int32_t x_step, int32_t y_step, const float *x, float *y)
{
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = -x[i * x_step];
    }
}
"""


def values(call: Call) -> dict[str, object]:
    loops = elementwise_walk(call.operands, "Y", ["X"])
    outer = nest(loops, inner=1)
    return {
        "headers": outer.headers,
        "x": f"{call.operands['X']}{outer.offsets['X']}",
        "y": f"{call.operands['Y']}{outer.offsets['Y']}",
        "steps": f"{loops.extents[-1]}, {loops.steps['X'][-1]}, {loops.steps['Y'][-1]}",
        "count": " * ".join(call.operands["Y"].extents),
    }


RIGHT = Kernel(
    name="acme.neg",
    op="Neg",
    target="acme",
    in_place=lambda site: (("X", "Y"),),
    cycles=lambda tile: 2.0 * tile.site.output.elements,
    values=values,
    source=SOURCE,
    call="% for header in headers:\n${header}\n% endfor\nacme_neg(${steps}, ${x}, ${y});",
)


def c(old: str, new: str) -> Kernel:
    assert old in SOURCE
    return replace(RIGHT, source=SOURCE.replace(old, new))


LATER = "-x[(i + 1 < count ? i + 1 : 0) * x_step]"
FAULTS: dict[str, tuple[Kernel, str]] = {
    "wrong values": (c("-x[", "x["), "reference"),
    "tiles without gaps": (
        replace(RIGHT, call="acme_neg(${count}, 1, 1, ${X}, ${Y});"), "in (layouts|tiles)",
    ),
    "the extent of the whole": (
        replace(RIGHT, call="acme_neg(35, 1, 1, ${X}, ${Y});"), "(beyond an operand|written beside|in tiles)",
    ),
    "an output that is not whole": (c("i < count;", "i < count - 1;"), "Y depends on bytes that nobody has written"),
    "scratch that nobody wrote": (
        replace(RIGHT, scratch_bytes=lambda tile: 8, call=f"{RIGHT.call}\n${{Y}}[0] += (float)${{scratch}}[0];"),
        "Y depends on bytes",
    ),
    "more scratch than declared": (
        replace(RIGHT, scratch_bytes=lambda tile: 8, call=f"{RIGHT.call}\n${{scratch}}[8] = 1;"),
        "(written beside scratch|beyond an operand)",
    ),
    "a write behind the output": (c("y[i * y_step] =", "y[(i + 9) * y_step] = y[i * y_step] ="), "beyond|beside"),
    "a read behind the input": (c("-x[i * x_step]", "-x[i * x_step] + 0 * x[(i + 9) * x_step]"), "beyond an operand"),
    "a read before the input": (c("-x[i * x_step]", "-x[i * x_step] + 0 * x[(i - 9) * x_step]"), "beyond an operand"),
    "a misaligned read": (
        c("-x[i * x_step]", "-x[i * x_step] + 0 * (float)*(const volatile int64_t *)(const void *)x"),
        "misaligned address",
    ),
    "undefined arithmetic": (c("-x[i * x_step]", "-x[i * x_step] + 0 * (float)(INT32_MAX + count)"), "signed integer"),
    "bytes that may not be shared": (c("y[i * y_step] = -x[i * x_step];", f"y[i * y_step] = {LATER};"), "reference"),
    "the end of the program": (c("for (", "if (count > 1) exit(1);\n    for ("), "ended the program|does not compile"),
    "C that does not compile": (c("const float *x", "const int8_t *x"), "does not compile"),
    "in place where it is not": (
        replace(RIGHT, call=f"${{Y}}[0] = 0.0f * ${{X}}[0];\n{RIGHT.call}"), "acme.neg.* in place",
    ),
}  # fmt: skip


def faults(kernel: Kernel, folder: Path, seed: int = 3) -> list[str]:
    return kernel_faults(NEG, kernel, SITE, [X], folder=folder, seed=seed)


def test_a_right_kernel_has_none(tmp_path: Path) -> None:
    assert [faults(RIGHT, tmp_path, seed) for seed in range(3)] == [[], [], []]


SANITIZED = ("a misaligned read", "undefined arithmetic")  # that UBSan says


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_with_kernel_and_function(
    tmp_path: Path, fault: str, request: pytest.FixtureRequest
) -> None:
    if fault in SANITIZED:
        request.getfixturevalue("sanitizers")
    kernel, reason = FAULTS[fault]
    found = faults(kernel, tmp_path)
    assert found
    assert all("kernel 'acme.neg' (C: acme_neg" in line for line in found)
    assert re.search(reason, "\n".join(found)), found


def test_an_asynchronous_kernel_is_waited_for(tmp_path: Path) -> None:
    kernel = replace(RIGHT, call="(void)${Y};", wait=RIGHT.call)
    assert faults(kernel, tmp_path) == []
    assert faults(replace(kernel, wait=""), tmp_path)


def test_layouts_that_a_kernel_requires_and_multiples_are_kept(tmp_path: Path) -> None:
    rows = "for (int32_t r = 0; r < 5; ++r) {\n    acme_neg(7, 1, 1, ${X} + 7 * r, ${Y} + 7 * r);\n}"
    kernel = replace(
        RIGHT, call=rows, requires=lambda site: {"X": (0, 1), "Y": (0, 1)}, access="i j : X[i,j] -> Y[i,j]",
        multiples={"i": 5, "j": 7}, in_place=lambda site: (),
    )  # fmt: skip
    assert [faults(kernel, tmp_path, seed) for seed in range(4)] == [[]] * 4
    assert any(faults(replace(kernel, multiples={}), tmp_path, seed) for seed in range(4))


def test_a_sum_that_is_cut_is_run_in_parts(tmp_path: Path) -> None:
    operator, kernel = vocabulary()["MatMul"], portable_kernels()["portable.matmul_f32"]
    arrays = [np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(20, dtype=np.float32).reshape(4, 5)]
    site = site_of(operator, arrays)
    assert kernel_faults(operator, kernel, site, arrays, folder=tmp_path, seed=1) == []

    def forgets(call: Call) -> Any:
        return kernel.values(replace(call, first="1") if call.is_part else call)

    seeds = range(4)
    found = [
        kernel_faults(operator, replace(kernel, values=forgets), site, arrays, folder=tmp_path, seed=seed)
        for seed in seeds
    ]
    assert any("in parts" in line for lines in found for line in lines)


numbers = count()
ANSWERS: dict[str, tuple[dict[str, Any], str]] = {
    "a list": ({"pack": lambda site: {"T": [1, 2, 3]}}, "pack of 'T' must return a numpy array"),
    "complex numbers": (
        {"pack": lambda site: {"T": np.zeros(3, complex)}},
        "pack of 'T' must return an array of one of",
    ),
    "no mapping": ({"pack": lambda site: np.zeros(3)}, "pack must return a mapping"),
    "negative scratch": ({"scratch_bytes": lambda tile: -1}, "scratch_bytes must return a whole number"),
    "no cost": ({"cycles": lambda tile: float("nan")}, "cycles must return a number of cycles"),
    "False": ({"match": lambda site: False}, "match must return a sentence"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_that_a_function_may_not_give_are_refused(tmp_path: Path, answer: str) -> None:
    changes, reason = ANSWERS[answer]
    with pytest.raises(TilewrightError) as caught:
        faults(replace(RIGHT, **changes), tmp_path)
    assert (caught.value.code, "kernel 'acme.neg'" in caught.value.message) == ("TW8062", True)
    assert reason in caught.value.message


def test_constants_that_are_others_each_time_are_found(tmp_path: Path) -> None:
    kernel = replace(RIGHT, pack=lambda site: {"T": np.full(3, next(numbers), np.int32)})
    (fault,) = faults(kernel, tmp_path)
    assert fault == "kernel 'acme.neg': `pack` gives another 'T' when it is asked again"


def test_a_refusal_is_told(tmp_path: Path) -> None:
    assert faults(replace(RIGHT, match=lambda site: "never"), tmp_path) == [
        "kernel 'acme.neg' refuses the layer: never"
    ]
