"""The Acme CMD: two cores, and an engine beside them that executes a stream of commands out of the flash.

A command multiplies one row of a matrix by a vector. It names what it reads and writes by a base register and an
offset, so that the flash never changes, wherever the application keeps its memory. The engine reads the vector while it
writes results: they are in different banks of the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tilewright.api import hookimpl
from tilewright.api.graph import Site
from tilewright.api.kernel import Kernel, Matched, PlacedTile
from tilewright.api.platform import Engine, Memory, Platform

WORDS = 7  # of a command: elements; base and offset of the vector, of the row, of the result

DRIVER = """\
static void acme_execute(const int32_t *command, const uintptr_t *bases, int32_t count)
{
    for (; count > 0; --count, command += 7) {
        const float *a = (const float *)(bases[command[1]] + (uintptr_t)command[2]);
        const float *w = (const float *)(bases[command[3]] + (uintptr_t)command[4]);
        float sum = 0.0f;
        for (int32_t k = 0; k < command[0]; ++k) { sum += w[k] * a[k]; }
        *(float *)(bases[command[5]] + (uintptr_t)command[6]) = sum;
    }
}
static void acme_join(int32_t behind)
{
    (void)behind; /* until the engine has no more jobs than that */
}
"""

Arrays = Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]


def match(site: Site) -> str | None:
    """A vector by a constant matrix."""
    matrix = site.constant(1)
    if matrix is None or matrix.ndim != 2:
        return "B is no constant matrix"
    return None if site.input(0).elements == matrix.shape[0] else "A is more than one vector"


def pack(site: Matched) -> Arrays:
    """B as [N, K], and room for a command for each of its rows."""
    matrix = site.constant(1)
    assert matrix is not None
    return {"B": np.ascontiguousarray(matrix.T), "C": np.zeros((matrix.shape[1], WORDS), np.int32)}


def commands(tile: PlacedTile) -> Arrays:
    """One for each row of the tile."""
    a, w, y = (tile.places[operand] for operand in ("A", "B", "Y"))
    rows, count = np.arange(tile.extent("n"), dtype=np.int32), tile.extent("k")
    made = np.empty((len(rows), WORDS), np.int32)
    made[:, :4] = count, a.base, a.offset_bytes, w.base
    made[:, 4] = w.offset_bytes + 4 * count * rows
    made[:, 5] = y.base
    made[:, 6] = y.offset_bytes + 4 * rows
    return {"C": made}


ROWS = Kernel(
    name="acme.rows", op="MatMul", target="acme-cmd", engine="npu", match=match,
    access="n k : A[...,k] B[n,:] C[n,:] -> Y[...,n]", pack=pack, pack_placed=commands,
    banks=(("A", "Y"),), cycles=lambda tile: 30.0 + tile.extent("n") * tile.extent("k"), includes=("<stdint.h>",),
    values=lambda call: {"table": ", ".join(f"(uintptr_t){base}" for base in call.bases)}, source=DRIVER,
    call="acme_execute(${C}, (const uintptr_t[]){${table}}, ${loops['n']});",
    wait="acme_join(${behind});",
)  # fmt: skip

ACME_CMD = Platform(
    name="acme-cmd", summary="Acme CMD: two cores, an engine that executes commands",
    memories=(
        Memory(name="sram", size_bytes=4 << 10, align=1 << 10, bank_bytes=1 << 10),
        Memory(name="flash", size_bytes=1 << 20, kind="const"),
    ),
    engines=(Engine(name="cores", cores=2), Engine(name="npu", preferred=True)), runners=("twin",),
)  # fmt: skip


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """The only one."""
    return (ACME_CMD,)


@hookimpl
def tilewright_kernels() -> Iterable[Kernel]:
    """The only one."""
    return (ROWS,)
