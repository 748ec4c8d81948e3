"""Calls of compiled code: arrays are given as copies and written back; what is touched beside them is an error."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.runners.toolchain import find_compiler
from tilewright.testing.kernels.fenced_call import fenced_call

SOURCE = """
#include <stdint.h>
#include <stdlib.h>

void poke(uint8_t *const *p, const int32_t *v)
{
    p[v[0]][v[1]] = 7;
}
void peek(uint8_t *const *p, const int32_t *v)
{
    p[1][0] = p[0][v[0]];
}
void aligned(uint8_t *const *p, const int32_t *v)
{
    p[0][0] = (uint8_t)((uintptr_t)p[0] % (uintptr_t)v[0]);
}
void quit(uint8_t *const *p, const int32_t *v)
{
    (void)p;
    v[0] ? abort() : exit(3);
}
"""


@pytest.fixture(scope="module", name="library")
def _library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("fenced")
    (folder / "poke.c").write_text(SOURCE, encoding="ascii")
    subprocess.run([*find_compiler().command, "-shared", "-fPIC", "-o", "poke.so", "poke.c"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "poke.so"))


def words(*values: int) -> Any:
    return (ctypes.c_int32 * len(values))(*values)


def test_what_is_written_inside_comes_back_and_the_same_array_is_one(library: ctypes.CDLL) -> None:
    x, y, empty = np.zeros(6, np.int16), np.zeros((2, 3), np.uint8), np.zeros(0)
    fenced_call(library.poke, {"X": x, "Y": y, "again": x, "empty": empty}, words(2, 4))
    fenced_call(library.poke, {"X": x, "Y": y}, words(1, 5))
    assert x.tolist() == [0, 0, 7, 0, 0, 0] and y.tolist() == [[0, 0, 0], [0, 0, 7]]


def test_bytes_are_in_the_order_in_which_they_are_stored(library: ctypes.CDLL) -> None:
    turned = np.zeros((2, 3), np.uint8).T
    fenced_call(library.poke, {"X": turned}, words(0, 1))
    assert turned.tolist() == [[0, 0], [7, 0], [0, 0]]


def test_what_cannot_be_written_stays(library: ctypes.CDLL) -> None:
    constant = np.zeros(4, np.uint8)
    constant.flags.writeable = False
    fenced_call(library.poke, {"X": constant}, words(0, 1))
    assert not constant.any()


@pytest.mark.parametrize(("at_end", "offset"), [(True, -1), (True, -100), (False, -1), (False, 6), (False, 100)])
def test_what_is_written_beside_an_array_is_told(library: ctypes.CDLL, at_end: bool, offset: int) -> None:
    arrays = {"X": np.zeros(6, np.uint8), "Y": np.zeros(9, np.uint8)}
    with pytest.raises(AssertionError, match="1 bytes were written beside X"):
        fenced_call(library.poke, arrays, words(0, offset), at_end=at_end)


@pytest.mark.parametrize(("at_end", "offset"), [(True, 8), (False, -5)])
@pytest.mark.parametrize("function", ["poke", "peek"])
def test_what_is_out_of_reach_ends_the_call_only(
    library: ctypes.CDLL, function: str, at_end: bool, offset: int
) -> None:
    arrays = {"X": np.zeros(8, np.uint8), "Y": np.zeros(8, np.uint8)}
    numbers = words(0, offset) if function == "poke" else words(offset)
    with pytest.raises(AssertionError, match="it reads or writes beyond an operand"):
        fenced_call(getattr(library, function), arrays, numbers, at_end=at_end)


@pytest.mark.parametrize(("align", "elements"), [(4, np.uint8), (8, np.int16), (4, np.float64), (16, np.float32)])
def test_an_array_is_no_better_aligned_than_it_must_be(
    library: ctypes.CDLL, align: int, elements: type[np.generic]
) -> None:
    least = max(align, np.dtype(elements).itemsize)
    for at_end in (False, True):
        array = np.zeros(3, elements)
        fenced_call(library.aligned, {"X": array}, words(least), at_end=at_end, align=align)
        assert array.view(np.uint8)[0] == 0
    array = np.zeros(3, elements)
    fenced_call(library.aligned, {"X": array}, words(2 * least), at_end=False, align=align)
    assert array.view(np.uint8)[0] == least


@pytest.mark.parametrize(("aborts", "reason"), [(0, "it ended the program"), (1, "it was ended by signal 6")])
def test_a_function_that_does_not_return_is_told(library: ctypes.CDLL, aborts: int, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        fenced_call(library.quit, {"X": np.zeros(1)}, words(aborts))
