"""The Acme MVM: two cores, and an engine beside them that multiplies by matrices.

Without sums to begin with it reads them in `mram`, which a loader fills and no core reads, rows of 16 bytes at a time.
With a bias it wants one blob for each tile in the scratchpad: the weights column by column, and the biases behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tilewright.api import hookimpl
from tilewright.api.graph import Site
from tilewright.api.kernel import Kernel, Matched, TileShape
from tilewright.api.platform import CopyPath, Engine, Memory, Platform

ROW = 4  # floats that the engine reads at once

PLAIN = {"alpha": 1.0, "beta": 1.0, "transB": 0, "clip_low": -np.inf, "clip_high": np.inf}

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

BLOB_DRIVER = """\
static void acme_blob(const float *a, const uint8_t *blob, float *y, int32_t rows, int32_t count)
{
    const float *w = (const float *)(const void *)blob;
    for (int32_t i = 0; i < rows; ++i) {
        float sum = w[count * rows + i];
        for (int32_t k = 0; k < count; ++k) { sum += w[k * rows + i] * a[k]; }
        y[i] = sum;
    }
}
"""


def match(site: Site) -> str | None:
    """A vector by a constant matrix."""
    matrix = site.constant(1)
    if any(site.node.number(name, plain) != plain for name, plain in PLAIN.items()):
        return "does more than to multiply and add"
    if matrix is None or matrix.ndim != 2:
        return "B is no constant matrix"
    return None if site.input(0).elements == matrix.shape[0] else "A is more than one vector"


def pack(site: Matched) -> Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    """B as [N, K], rows padded to what the engine reads at once."""
    matrix = site.constant(1)
    assert matrix is not None
    return {"B": np.pad(matrix.T, ((0, 0), (0, -matrix.shape[0] % ROW)))}


def pack_blob(site: Matched) -> Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    """As many bytes for each row of the result."""
    return {"P": np.zeros((site.output.shape[-1], 4 * (site.input(0).elements + 1)), np.uint8)}


def pack_tile(tile: TileShape) -> Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    """The blob of one tile: columns of its rows, then its biases."""
    matrix, bias = tile.site.constant(1), tile.site.constant(2)
    assert matrix is not None and bias is not None
    rows = slice(*tile.box["n"])
    blob = np.vstack([matrix[:, rows], bias[rows]]).astype(np.float32)
    return {"P": blob.reshape(-1).view(np.uint8).reshape(tile.extent("n"), -1)}


BLOB = Kernel(
    name="acme.blob", op="Gemm", target="acme-mvm", engine="mvm",
    match=lambda site: match(site) if site.has_input(2) and site.constant(2) is not None else "C is no constant",
    access="n k : A[...,k] P[n,:] -> Y[...,n]", pack=pack_blob, pack_tile=pack_tile, memories={"P": ("pad",)},
    cycles=lambda tile: 30.0 + tile.extent("n") * tile.extent("k"), source=BLOB_DRIVER, align={"P": 64},
    call="acme_blob(${A}, ${P}, ${Y}, ${loops['n']}, ${loops['k']});",
)  # fmt: skip

MVM = Kernel(
    name="acme.mvm", op="MatMul", target="acme-mvm", engine="mvm", match=match,
    access="n k : A[...,k] B[n,:] -> Y[...,n]", pack=pack, memories={"B": ("mram",)}, align={"A": 4, "B": 16},
    cycles=lambda tile: 30.0 + tile.extent("n") * tile.extent("k") / ROW, source=DRIVER, includes=("<stdint.h>",),
    call="acme_mvm(${A}, ${B}, ${Y}, ${loops['n']}, ${loops['k']}, ${B.strides[0]});",
)  # fmt: skip


def path(source: str, target: str) -> CopyPath:
    """A byte a cycle."""
    return CopyPath(source=source, target=target, channels=4, cycles=lambda size_bytes, rows: 20.0 * rows + size_bytes)


ACME_MVM = Platform(
    name="acme-mvm", summary="Acme MVM: two cores, an engine with a memory of its own for weights",
    memories=(
        Memory(name="dram", size_bytes=1 << 20), Memory(name="pad", size_bytes=4 << 10, align=64),
        Memory(name="rom", size_bytes=1 << 20, kind="const", align=64),
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
    """Both."""
    return (MVM, BLOB)
