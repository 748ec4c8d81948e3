"""What copies take, beside the figures of GVSoC that the docstrings give: within a fifth."""

from __future__ import annotations

import pytest

from tilewright_siracusa.machine import (
    CODE_BYTES,
    CONSTANT_BYTES,
    L2_BYTES,
    MAX_COPY_BYTES,
    MAX_EXTERNAL_BYTES,
    cluster_copy_cycles,
    external_load_cycles,
    external_store_cycles,
)


@pytest.mark.parametrize(("size_bytes", "rows", "cycles"), [
    (64, 1, 69), (1024, 1, 183), (64 << 10, 1, 8247), (128 * 16, 128, 316), (128 * 100, 128, 1663)
])  # fmt: skip
def test_copies_of_the_cluster(size_bytes: int, rows: int, cycles: int) -> None:
    assert cluster_copy_cycles(size_bytes, rows) == pytest.approx(cycles, rel=0.2)


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
    assert cluster_copy_cycles(0, 0) == 55
    assert external_load_cycles(3, 1) - external_load_cycles(4, 1) == 500 - 1  # a row of odd bytes


def test_shares_and_counters_fit() -> None:
    assert CODE_BYTES + CONSTANT_BYTES < L2_BYTES
    assert (MAX_COPY_BYTES + 1).bit_length() == 18 and MAX_EXTERNAL_BYTES % 4 == 0
    assert MAX_EXTERNAL_BYTES < 1 << 20
