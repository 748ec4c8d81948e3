"""Knows how compiled code is called so that what it writes beside its arrays is seen.
Does not know what it computes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.rounding import align_up

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

GUARD_BYTES = 256  # before and behind every array
ALIGN = 64
_GUARD = 0xC5


def guarded_call(function: Callable[..., object], arrays: Sequence[Array], *more: object) -> None:
    """Call with a `void *[]` of copies of the arrays, which are written back. The same array twice is one copy.

    AssertionError where bytes around the copies have changed.
    """
    different = {id(array): array for array in arrays}
    memory = np.full(sum(map(_room, different.values())) + ALIGN, _GUARD, np.uint8)
    places, at = dict[int, slice](), -memory.ctypes.data % ALIGN
    for key, array in different.items():
        places[key] = slice(at + GUARD_BYTES, at + GUARD_BYTES + array.nbytes)
        memory[places[key]] = np.frombuffer(_as_stored(array).tobytes(), np.uint8)
        at += _room(array)
    pointers = (ctypes.c_void_p * len(arrays))(*(memory.ctypes.data + places[id(one)].start for one in arrays))
    function(pointers, *more)
    for key, array in different.items():
        if array.flags.writeable:
            stored = _as_stored(array)
            stored[...] = np.frombuffer(memory[places[key]].tobytes(), array.dtype).reshape(stored.shape)
        memory[places[key]] = _GUARD
    harmed = np.flatnonzero(memory != _GUARD)
    assert not harmed.size, f"{harmed.size} bytes were written beside the arrays"


def _as_stored(array: Array) -> Array:
    """Its axes in the order of its bytes: arrays may be transposed views of such as have no gaps."""
    return array.transpose(np.argsort([-stride for stride in array.strides], kind="stable"))


def _room(array: Array) -> int:
    return align_up(array.nbytes + 2 * GUARD_BYTES, ALIGN)
