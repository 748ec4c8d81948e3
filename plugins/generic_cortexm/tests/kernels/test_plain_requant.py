"""Requantisation without the DSP extension: the formula of floats in integers, against floats."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from tilewright.api.graph import Requant
from tilewright.api.testing import UBSAN
from tilewright_cortexm.kernels.dsp_requant import DspForm
from tilewright_cortexm.kernels.dsp_twice import TwiceForm
from tilewright_cortexm.kernels.plain_requant import formulas, plain_names

REQUANT = Requant(scale=(0.5,), zero_point=0, low=-128, high=127)
# Scales of all sizes, and such that products are close to halves of small integers, where each rounding counts.
FORMULA = r"""
#define TW_KERNEL static inline
#include "dsp.h"
#include <math.h>
#include <stdio.h>

static uint32_t state = 1;

static uint32_t next(void)
{
    state = (state * 1664525u) + 1013904223u;
    return (state >> 8) ^ (state << 20);
}

static int32_t wanted(int32_t acc, float scale)
{
    const float product = (float)acc * scale;
    return (int32_t)rintf((product < -1024.0f) ? -1024.0f : ((product > 1024.0f) ? 1024.0f : product)) + 3;
}

int main(void)
{
    int32_t halves = 0;
    for (int32_t i = 0; i < 2000000; ++i) {
        const int32_t acc = (int32_t)next() >> (next() % 32u);
        union { uint32_t bits; float value; } scale = {.bits = next() % 0x4f000000u};
        if (((i % 4) != 0) && (acc != 0)) {
            scale.value = fabsf(((float)(next() % 300u) + 0.5f) / (float)acc);
            scale.bits += (next() % 3u) - 1u;
        }
        halves += (fabsf((float)acc * scale.value) - floorf(fabsf((float)acc * scale.value))) == 0.5f;
        const int32_t found = tw_dsp_round(acc, (int32_t)(scale.bits | 0x80000000u), 3);
        if (found != wanted(acc, scale.value)) {
            (void)printf("%d * %a: %d\n", (int)acc, (double)scale.value, (int)found);
            return 1;
        }
    }
    return (halves > 100000) ? 0 : 2;
}
"""


def test_the_formula_in_integers_is_that_of_floats(tmp_path: Path, tool: Callable[[str], str]) -> None:
    (tmp_path / "formula.c").write_text(FORMULA, encoding="ascii")
    (tmp_path / "prelude.h").write_text("", encoding="ascii")
    folder = str(files("tilewright_cortexm.kernels"))
    command = [tool("gcc"), *UBSAN, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    command += ["-I", str(tmp_path), "-I", folder, "-o", "formula", "formula.c", "-lm"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(tmp_path / "formula")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_function_is_another_than_with_the_extension() -> None:
    form = DspForm(shift=3, words=(5, -1, -2, 7), above=4)
    assert formulas(form) == 0.5
    assert plain_names(form, REQUANT)["requantise"] != form.names(REQUANT)["requantise"]


def test_a_product_that_is_rounded_twice_has_the_same_function() -> None:
    form = TwiceForm(shift=0, multipliers=(5,), addends=(1,), amounts=(2,))
    assert formulas(form) == 0.0
    assert plain_names(form, REQUANT) == form.names(REQUANT)
