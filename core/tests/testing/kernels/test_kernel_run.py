"""One kernel, compiled and run on arrays: layouts, scratch, places in place, and a compiler that accepts no warning."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.ir.plans.layer import layer_of
from tilewright.testing.kernels.kernel_run import (
    UBSAN,
    build_library,
    library_text,
    outcomes,
    run_kernel,
    whole_call,
    whole_trial,
)
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_sites import site_of

NEG, KERNEL = vocabulary()["Neg"], portable_kernels()["portable.neg"]
X = np.arange(6, dtype=np.float32).reshape(2, 3)
SITE = site_of(NEG, [X])
OWN = replace(KERNEL, values=lambda _: {}, source="")


def test_operands_are_in_the_order_of_their_pointers_with_scratch_last() -> None:
    kernel = replace(KERNEL, scratch_bytes=lambda tile: 24)
    call, arrays = whole_call(layer_of(NEG, kernel, SITE), [X], layouts={"X": (1, 0)})
    assert list(arrays) == ["X", "Y", "scratch"] == list(call.operands)
    assert arrays["X"].tolist() == X.T.tolist() and arrays["X"].flags.c_contiguous
    assert not arrays["Y"].any() and arrays["scratch"].nbytes == 24
    assert call.operands["X"].strides == (1, 2) and call.operands["X"].shape == (2, 3)
    assert "const float *" in call.operands["X"].pointer and "const" not in call.operands["Y"].pointer


def test_results_are_row_major_whatever_the_layout(tmp_path: Path) -> None:
    (found,) = run_kernel(NEG, KERNEL, SITE, [X], folder=tmp_path, layouts={"X": (1, 0), "Y": (1, 0)})
    assert np.array_equal(found, -X)


@pytest.mark.parametrize(("at", "harmed"), [(5, False), (6, True), (-1, True)])
def test_a_byte_beside_an_output_is_found(tmp_path: Path, at: int, harmed: bool) -> None:
    zeros = "for (int i = 0; i < 6; ++i) ${Y}[i] = 0;"
    kernel = replace(OWN, call=f"{zeros}\n${{Y}}[{at}] = 1; (void)${{X}};")
    if not harmed:
        (found,) = run_kernel(NEG, kernel, SITE, [X], folder=tmp_path)
        assert found.ravel().tolist() == [0, 0, 0, 0, 0, 1]
        return
    with pytest.raises(AssertionError, match=r"beside Y|beyond an operand"):
        run_kernel(NEG, kernel, SITE, [X], folder=tmp_path)


def test_in_place_an_output_has_the_bytes_of_the_input_that_the_kernel_says(tmp_path: Path) -> None:
    call = "for (int i = 2; i < 6; ++i) ${Y}[i] = ${X}[i];\n${Y}[0] = 9; ${Y}[1] = ${X}[0];"
    kernel = replace(OWN, in_place=lambda _: (("X", "Y"),), call=call)
    (apart,) = run_kernel(NEG, kernel, SITE, [X], folder=tmp_path)
    (shared,) = run_kernel(NEG, kernel, SITE, [X], folder=tmp_path, in_place=True)
    assert apart.ravel().tolist() == [9, 0, 2, 3, 4, 5]
    assert shared.ravel().tolist() == [9, 9, 2, 3, 4, 5] and X[0, 0] == 0  # what was given stays


def test_what_waits_is_run_behind_what_starts(tmp_path: Path) -> None:
    copy = "for (int i = 0; i < 6; ++i) ${Y}[i] = -${X}[i];"
    (found,) = run_kernel(NEG, replace(OWN, call="(void)${Y};", wait=copy), SITE, [X], folder=tmp_path)
    assert np.array_equal(found, -X)


@pytest.mark.parametrize(
    ("call", "scratch_bytes", "reason"),
    [
        ("for (int i = 0; i < 5; ++i) ${Y}[i] = ${X}[i];", 0, "Y depends on bytes that nobody has written"),
        ("for (int i = 0; i < 6; ++i) ${Y}[i] = ${X}[i] + ${scratch}[0];", 4, "Y depends on bytes that nobody has"),
        ("for (int i = 0; i < 6; ++i) ${Y}[i] = ${X}[i + 1];", 0, "it reads or writes beyond an operand"),
        ("for (int i = 0; i < 6; ++i) ${Y}[i] = ${X}[i - 2];", 0, "it reads or writes beyond an operand"),
    ],
)
def test_what_nobody_has_written_and_what_is_beside_operands_may_not_be_read(
    tmp_path: Path, call: str, scratch_bytes: int, reason: str
) -> None:
    kernel = replace(OWN, call=call, scratch_bytes=lambda _: scratch_bytes)
    with pytest.raises(AssertionError, match=reason):
        run_kernel(NEG, kernel, SITE, [X], folder=tmp_path)


@pytest.mark.usefixtures("sanitizers")
def test_a_misaligned_read_is_found_although_this_machine_can_do_it(tmp_path: Path) -> None:
    pair = "for (int i = 0; i < 6; ++i) ${Y}[i] = ${X}[i] + (float)(*(const volatile int64_t *)(const void *)${X} & 0);"
    with pytest.raises(AssertionError, match=r"misaligned address .*undefined behaviour"):
        run_kernel(NEG, replace(OWN, call=pair), SITE, [X], folder=tmp_path, flags=UBSAN)


def test_a_warning_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        run_kernel(NEG, replace(OWN, call="int unused; ${Y}[0] = ${X}[0];"), SITE, [X], folder=tmp_path)


def test_several_calls_are_one_library_and_each_has_its_outputs(tmp_path: Path) -> None:
    trials = [whole_trial(NEG, KERNEL, site_of(NEG, [x]), [x]) for x in (X, 2 * X, np.float32([[7]]))]
    assert [found.tolist() for (found,) in outcomes(trials, tmp_path)] == [(-X).tolist(), (-2 * X).tolist(), [[-7]]]
    assert len(list(tmp_path.glob("*.so"))) == 1
    assert library_text(trials).count("void tw_test(void") == 2  # a prototype, and what it does


def test_calls_whose_functions_have_one_name_and_other_texts_are_compiled_apart(tmp_path: Path) -> None:
    source = "static float tw_own(float x)\n{\n    return x + %sf;\n}"
    kernels = [
        replace(OWN, source=source % number, call="for (int i = 0; i < 6; ++i) ${Y}[i] = tw_own(${X}[1]);")
        for number in ("1.0", "5.0")
    ]
    found = outcomes([whole_trial(NEG, kernel, SITE, [X]) for kernel in kernels], tmp_path)
    assert [one.ravel()[0] for (one,) in found] == [2, 6]
    assert len(list(tmp_path.glob("*.so"))) == 2


def test_a_library_of_one_call_has_one_function(tmp_path: Path) -> None:
    call, _ = whole_call(layer_of(NEG, KERNEL, SITE), [X], layouts={})
    library = build_library(KERNEL, call, tmp_path)
    assert library.tw_test and not hasattr(library, "tw_test_1")
