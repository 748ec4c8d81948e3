"""Knows how compiled code is called so that what it touches beside its arrays is found: a write by the bytes around
them, a read by pages that nobody may look at. Does not know what it computes.

Every array lies between two such pages: against the upper one, or right above the lower one and no better aligned than
the least that a plan promises. The call runs in a child that shares this memory, so that a fault ends no test run.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from mmap import MAP_ANONYMOUS, MAP_SHARED, PAGESIZE, mmap
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.ir.rounding import align_down, align_up
from tilewright.runners.toolchain import find_compiler

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Bytes = npt.NDArray[np.uint8]

SCRATCH_ALIGN = 8  # what every plan gives at least to scratch and to sums
LEAST_ALIGN = 4  # of the address of a buffer, where a platform says no more
SECONDS = 120  # until a call that does not end is ended
_SCRATCH = ("scratch", "acc")
_GUARD = 0xC5
_NO_ACCESS = 0  # PROT_NONE
_FAULTS: Mapping[int, str] = {
    signal.SIGSEGV: "it reads or writes beyond an operand, or an address that is none",
    signal.SIGBUS: "it reads or writes beyond an operand, or an address that is none",
    signal.SIGALRM: f"it does not end within {SECONDS} s",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fenced:
    """One array between two pages that nobody may touch."""

    bytes: Bytes  # everything between the two pages
    start: int  # of the array

    @property
    def address(self) -> int:
        return int(self.bytes.ctypes.data) + self.start


def fenced_call(
    function: Any,
    arrays: Mapping[str, Array],
    values: Any = None,
    *,
    at_end: bool = True,
    align: int = LEAST_ALIGN,
    aligns: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """Call the C function with a `void *[]` of copies of the arrays, which are written back, and with `values`. The
    same array twice is one copy. `at_end`: what is behind an array is out of reach; otherwise what is before it, and it
    is aligned to `align`, or to what `aligns` says of it, or to its elements where those are larger, and to no more.

    AssertionError that says what the function did, and to which array, where it touched bytes beside them or did not
    return.
    """
    different = {id(array): array for array in arrays.values()}
    names = {id(array): name for name, array in arrays.items()}
    least = {key: max(align, SCRATCH_ALIGN) if names[key] in _SCRATCH else align for key in different}
    for name, array in arrays.items():  # the same array may have several names
        least[id(array)] = max(least[id(array)], aligns.get(name, 1))
    fenced = {key: _fence(array, at_end, least[key]) for key, array in different.items()}
    pointers = (ctypes.c_void_p * len(arrays))(*(fenced[id(array)].address for array in arrays.values()))
    failure = _called(function, pointers, values)
    beside = {names[key]: _harmed(fenced[key], array.nbytes) for key, array in different.items()}
    for key, array in different.items():
        if array.flags.writeable:
            fence, stored = fenced[key], as_stored(array)
            taken = fence.bytes[fence.start : fence.start + array.nbytes]
            stored[...] = np.frombuffer(taken.tobytes(), array.dtype).reshape(stored.shape)
    harmed = [f"{count} bytes were written beside {name}" for name, count in beside.items() if count]
    if failure or harmed:
        raise AssertionError("; ".join([*harmed, *([failure] if failure else [])]))


def as_stored(array: Array) -> Array:
    """Its axes in the order of its bytes: arrays may be transposed views of such as have no gaps."""
    return array.transpose(np.argsort([-stride for stride in array.strides], kind="stable"))


def _fence(array: Array, at_end: bool, align: int) -> _Fenced:
    least = max(align, array.dtype.itemsize)
    inner = align_up(array.nbytes + 2 * least, PAGESIZE)
    memory = mmap(-1, inner + 2 * PAGESIZE, flags=MAP_SHARED | MAP_ANONYMOUS)
    content = np.frombuffer(memory, np.uint8)
    for edge in (0, PAGESIZE + inner):
        if _libc().mprotect(ctypes.c_void_p(content.ctypes.data + edge), PAGESIZE, _NO_ACCESS) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
    between = content[PAGESIZE : PAGESIZE + inner]
    between[:] = _GUARD
    start = align_down(inner - array.nbytes, least) if at_end else least
    between[start : start + array.nbytes] = np.frombuffer(as_stored(array).tobytes(), np.uint8)
    return _Fenced(bytes=between, start=start)


def _harmed(fenced: _Fenced, size_bytes: int) -> int:
    beside = np.concatenate([fenced.bytes[: fenced.start], fenced.bytes[fenced.start + size_bytes :]])
    return int((beside != _GUARD).sum())


def _called(function: Any, pointers: Any, values: Any) -> str:
    """What happened, in words; "" where the function has returned."""
    with tempfile.TemporaryFile() as said:
        status = _fence_library().tw_fenced_call(
            ctypes.cast(function, ctypes.c_void_p), pointers, values, said.fileno(), SECONDS
        )
        said.seek(0)
        words = said.read().decode(errors="replace").strip()
    if status == 0:
        return ""
    if status == -1:
        raise OSError("no process could be made to call a kernel in")
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    reason = _FAULTS.get(ended, f"it was ended by signal {ended}" if ended else "it ended the program")
    first = next((line for line in words.splitlines() if "runtime error" in line), words.splitlines()[:1])
    told = first if isinstance(first, str) else "".join(first)
    return f"{told.split('runtime error: ')[-1]} (undefined behaviour)" if "runtime error" in told else reason


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def _fence_library() -> ctypes.CDLL:
    """Compiled once for each process; the file is gone when it is loaded."""
    with as_file(files("tilewright.testing.kernels") / "fence.c") as source, tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "fence.so"
        command = [*find_compiler().command, "-std=c11", "-O1", "-shared", "-fPIC", "-o", str(library), str(source)]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library))
