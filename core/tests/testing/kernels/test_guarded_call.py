"""Calls of compiled code: arrays are given as copies and written back, and what is written beside them is an error."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tilewright.testing.kernels.guarded_call import ALIGN, GUARD_BYTES, guarded_call


def poke(pointers: ctypes.Array[ctypes.c_void_p], which: int, offset: int) -> None:
    """Writes a byte at an offset from the start of an array."""
    address = pointers[which]
    assert address is not None and address % ALIGN == 0
    ctypes.memset(address + offset, 7, 1)


def test_what_is_written_inside_comes_back_and_the_same_array_is_one() -> None:
    one, other, empty = np.zeros(6, np.int16), np.zeros((2, 3), np.uint8), np.zeros(0)
    guarded_call(poke, [one, other, one, empty], 2, 4)
    guarded_call(poke, [one, other], 1, 5)
    assert one.tolist() == [0, 0, 7, 0, 0, 0] and other.tolist() == [[0, 0, 0], [0, 0, 7]]


def test_bytes_are_in_the_order_in_which_they_are_stored() -> None:
    turned = np.zeros((2, 3), np.uint8).T
    guarded_call(poke, [turned], 0, 1)
    assert turned.tolist() == [[0, 0], [7, 0], [0, 0]]


def test_what_cannot_be_written_stays() -> None:
    constant = np.zeros(4, np.uint8)
    constant.flags.writeable = False
    guarded_call(poke, [constant], 0, 1)
    assert not constant.any()


@pytest.mark.parametrize("offset", [-1, -GUARD_BYTES, 6, 6 + GUARD_BYTES - 1])
def test_what_is_written_beside_an_array_is_told(offset: int) -> None:
    with pytest.raises(AssertionError, match="1 bytes were written beside"):
        guarded_call(poke, [np.zeros(6, np.uint8), np.zeros(9, np.uint8)], 0, offset)
