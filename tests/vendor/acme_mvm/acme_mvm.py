"""The Acme MVM: two cores, and an engine beside them that multiplies by matrices in a memory which only it reads.

The engine reads `mram`, which a loader fills, rows of 16 bytes at a time; vectors come to it through the scratchpad.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tilewright.api import hookimpl
from tilewright.api.graph import Site
from tilewright.api.kernel import Kernel, Matched
from tilewright.api.platform import CopyPath, Engine, Memory, Platform

ROW = 4  # floats that the engine reads at once

DRIVER = """\
static void acme_mvm(const float *a, const float *w, float *y, int32_t rows, int32_t count, int32_t pitch)
{
    for (int32_t i = 0; i < rows; ++i) {
        float sum = 0.0f;
        for (int32_t k = 0; k < count; ++k) { sum += w[i * pitch + k] * a[k]; }
        y[i] = sum;
    }
}
"""


def match(site: Site) -> str | None:
    """A vector by a constant matrix."""
    matrix = site.constant(1)
    if site.node.attributes:
        return "limits its results"
    if matrix is None or matrix.ndim != 2:
        return "B is no constant matrix"
    return None if site.input(0).elements == matrix.shape[0] else "A is more than one vector"


def pack(site: Matched) -> Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    """B as [N, K], rows padded to what the engine reads at once."""
    matrix = site.constant(1)
    assert matrix is not None
    return {"B": np.pad(matrix.T, ((0, 0), (0, -matrix.shape[0] % ROW)))}


MVM = Kernel(
    name="acme.mvm", op="MatMul", target="acme-mvm", engine="mvm", match=match,
    access="n k : A[...,k] B[n,:] -> Y[...,n]", pack=pack, memories={"B": ("mram",)},
    cycles=lambda tile: 30.0 + tile.extent("n") * tile.extent("k") / ROW, source=DRIVER, includes=("<stdint.h>",),
    call="acme_mvm(${A}, ${B}, ${Y}, ${loops['n']}, ${loops['k']}, ${B.strides[0]});",
)  # fmt: skip


def path(source: str, target: str) -> CopyPath:
    """A byte a cycle."""
    return CopyPath(source=source, target=target, channels=4, cycles=lambda size_bytes, rows: 20.0 * rows + size_bytes)


ACME_MVM = Platform(
    name="acme-mvm", summary="Acme MVM: two cores, an engine with a memory of its own for weights",
    memories=(
        Memory(name="dram", size_bytes=1 << 20), Memory(name="pad", size_bytes=4 << 10),
        Memory(name="rom", size_bytes=1 << 20, kind="const"),
        Memory(name="mram", size_bytes=8 << 10, kind="const", access={"cores": "none"}),
    ),
    engines=(Engine(name="cores", cores=2), Engine(name="mvm", preferred=True)),
    copies=(path("dram", "pad"), path("pad", "dram"), path("rom", "pad")),
    backing="dram", inner="pad", runners=("twin",),
)  # fmt: skip


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """The only one."""
    return (ACME_MVM,)


@hookimpl
def tilewright_kernels() -> Iterable[Kernel]:
    """The only one."""
    return (MVM,)
