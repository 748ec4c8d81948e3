"""Places of operands in the kit: each is alone behind a base, and found again from it in C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.ir.machines.kernel import Kernel, PlacedTile
from tilewright.ir.plans.layer import layer_of
from tilewright.testing.kernels.kernel_faults import kernel_faults
from tilewright.testing.kernels.placed_operands import base_pointers, packed_for
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of

MATMUL = vocabulary()["MatMul"]
INPUTS = [np.ones((1, 6), np.float32), np.arange(54, dtype=np.float32).reshape(6, 9)]
SITE = site_of(MATMUL, INPUTS, {}, (1,))
ORDER = ("A", "B", "C", "Y", "scratch")


def commands(tile: PlacedTile) -> Mapping[str, np.ndarray[Any, Any]]:
    """Base and offset of A and Y, for each row."""
    a, y = tile.places["A"], tile.places["Y"]
    return {"C": np.array([[a.base, a.offset_bytes, y.base, y.offset_bytes]] * tile.extent("n"), np.int32)}


KERNEL = Kernel(
    name="acme.rows", op="MatMul", access="n k : A[...,k] B[n,:] C[n,:] -> Y[...,n]", cycles=lambda tile: 1.0,
    pack=lambda site: {"B": np.ascontiguousarray(INPUTS[1].T), "C": np.zeros((9, 4), np.int32)}, pack_placed=commands,
    source="static void acme_rows(const int32_t *c, const uintptr_t *bases, const float *w, int32_t rows,\n"
    "    int32_t count)\n{\n"
    "    const float *a = (const float *)(bases[c[0]] + (uintptr_t)c[1]);\n"
    "    float *y = (float *)(bases[c[2]] + (uintptr_t)c[3]);\n"
    "    for (int32_t i = 0; i < rows; ++i) {\n        y[i] = 0.0f;\n"
    "        for (int32_t k = 0; k < count; ++k) { y[i] += w[i * count + k] * a[k]; }\n    }\n}",
    call="const uintptr_t bases[] = {${', '.join('(uintptr_t)' + base for base in bases)}};\n"
    "acme_rows(${C}, bases, ${B}, ${loops['n']}, ${loops['k']});",
)  # fmt: skip


def test_no_two_operands_are_at_the_same_distance() -> None:
    layer = layer_of(MATMUL, KERNEL, SITE)
    (row, *others) = packed_for(layer, layer.whole, ORDER, {})["C"].tolist()
    assert row[0] != row[2] and row[1] != row[3] and row[1] and all(other == row for other in others)
    later = packed_for(layer, layer.whole, ORDER, {"A": 12})["C"][0].tolist()
    assert later == [row[0], row[1] + 12, *row[2:]]


def test_distances_keep_alignment_and_other_kernels_have_no_bases() -> None:
    aligned = replace(KERNEL, align={"A": 256})
    assert base_pointers(aligned, ORDER)[1].endswith("tw_p[1] - 512u))")
    assert base_pointers(replace(KERNEL, pack_placed=None), ORDER) == ()


@pytest.mark.parametrize("wrong", [None, (1, 4), (3, -4), (0, 1)])
def test_the_kit_runs_it_whole_and_in_tiles_and_finds_what_is_beside(
    wrong: tuple[int, int] | None, tmp_path: Path
) -> None:
    def changed(tile: PlacedTile) -> Mapping[str, np.ndarray[Any, Any]]:
        made = commands(tile)["C"].copy()
        if wrong:
            made[:, wrong[0]] += wrong[1]
        return {"C": made}

    faults = kernel_faults(MATMUL, replace(KERNEL, pack_placed=changed), SITE, INPUTS, folder=tmp_path)
    assert bool(faults) is (wrong is not None)
    assert all(fault.startswith("kernel 'acme.rows' (C: ") for fault in faults)
