"""The made-up cluster is a sound platform: two ways through the scratchpad, costs that grow, a room that can change."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.testing.cluster import (
    CLUSTER,
    MAX_COPY_BYTES,
    RUNTIME_BYTES,
    cluster,
    copy_cycles,
    copy_path,
    registry_for,
)
from tilewright.testing.one_step import vocabulary


def test_values_live_in_one_memory_and_are_computed_in_another() -> None:
    names = [memory.name for memory in CLUSTER.memories]
    assert {CLUSTER.backing, CLUSTER.inner} <= set(names) and CLUSTER.backing != CLUSTER.inner
    ways = {(path.source, path.target) for path in CLUSTER.copies}
    assert {(CLUSTER.backing, CLUSTER.inner), (CLUSTER.inner, CLUSTER.backing), ("flash", CLUSTER.inner)} == ways
    assert CLUSTER.runtime_bytes == {CLUSTER.inner: RUNTIME_BYTES}


@given(size=st.integers(1, MAX_COPY_BYTES - 8), rows=st.integers(1, 500))
def test_a_copy_of_more_bytes_or_rows_is_not_faster(size: int, rows: int) -> None:
    assert 45 < copy_cycles(size, rows) <= copy_cycles(size + 8, rows) - 1
    assert copy_cycles(size, rows) <= copy_cycles(size, rows + 1)
    assert copy_path("a", "b").cycles(size, rows) == copy_cycles(size, rows)


@pytest.mark.parametrize("size", [1024, 1 << 20])
def test_another_scratchpad_changes_nothing_else(size: int) -> None:
    other = cluster(size)
    assert other.memory(CLUSTER.inner).size_bytes == size
    assert replace(other, memories=CLUSTER.memories) == CLUSTER
    assert [memory for memory in other.memories if memory.name != CLUSTER.inner] == [
        memory for memory in CLUSTER.memories if memory.name != CLUSTER.inner
    ]


def test_it_has_the_platform_and_the_vocabulary() -> None:
    small = cluster(scratchpad_bytes=4096)
    registry = registry_for(small, tiler="min")
    assert registry.platforms == {CLUSTER.name: small}
    assert registry.operators.keys() >= vocabulary().keys()
    assert registry.exporters.keys() >= set(Options().emit)  # or the files of a compilation could not be had
    assert "portable.sigmoid" in registry.kernels and "min" in registry.tilers and "auto" in registry.allocators


def test_what_is_named_and_not_installed_is_an_error() -> None:
    with pytest.raises(TilewrightError, match="TW8001"):
        registry_for(CLUSTER, tiler="nobody")
