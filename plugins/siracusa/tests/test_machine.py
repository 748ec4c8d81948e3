"""What copies take, beside the figures of GVSoC that the docstrings give: within a fifth."""

from __future__ import annotations

import pytest

from tilewright_siracusa.machine import (
    CODE_BYTES,
    CONSTANT_BYTES,
    L2_BYTES,
    MAX_COPY_BYTES,
    MAX_EXTERNAL_BYTES,
    cluster_load_cycles,
    cluster_store_cycles,
    external_load_cycles,
    external_store_cycles,
)


@pytest.mark.parametrize(("row_bytes", "rows", "load", "store"), [
    (64, 1, 81, 67), (1024, 1, 198, 188), (64 << 10, 1, 8261, 8505), (16, 2, 81, 69), (16, 8, 87, 79),
    (16, 32, 135, 151), (16, 128, 327, 439), (8, 64, 135, 181), (32, 64, 327, 373), (64, 64, 585, 631),
    (100, 128, 1671, 1843), (128, 128, 2121, 2227), (256, 32, 1095, 1111), (13, 64, 201, 247), (1024, 16, 2121, 2167),
])  # fmt: skip
def test_copies_of_the_cluster(row_bytes: int, rows: int, load: int, store: int) -> None:
    """On GVSoC, the clock's own reading and the loop of measurements included, in loads: some 15 cycles."""
    size_bytes = row_bytes * rows
    assert cluster_load_cycles(size_bytes, rows) + 15 == pytest.approx(load, abs=63 if row_bytes == 100 else 8)
    assert cluster_store_cycles(size_bytes, rows) == pytest.approx(store, abs=8)


@pytest.mark.parametrize(("size_bytes", "rows", "load", "store"), [
    (64, 1, 340, 400), (1024, 1, 1302, 2131), (32 * 128, 32, 4768, 7971), (3 * 17, 3, 3 * 640, 3 * 920),
    (5 * 127, 5, 5 * 2050, 5 * 2530),
])  # fmt: skip
def test_copies_of_the_external_ram(size_bytes: int, rows: int, load: int, store: int) -> None:
    """Rows of odd bytes pass through the core: one figure stands for both directions."""
    odd = rows > 1 and size_bytes // rows % 4
    assert external_load_cycles(size_bytes, rows) == pytest.approx(load, rel=0.3 if odd else 0.15)
    assert external_store_cycles(size_bytes, rows) == pytest.approx(store, rel=0.25 if odd else 0.15)


def test_nothing_but_the_start() -> None:
    assert cluster_load_cycles(0, 0) == cluster_store_cycles(0, 0) == 55
    assert external_load_cycles(3, 1) - external_load_cycles(4, 1) == 500 - 1  # a row of odd bytes


def test_shares_and_counters_fit() -> None:
    assert CODE_BYTES + CONSTANT_BYTES < L2_BYTES
    assert (MAX_COPY_BYTES + 1).bit_length() == 18 and MAX_EXTERNAL_BYTES % 4 == 0
    assert MAX_EXTERNAL_BYTES < 1 << 20
