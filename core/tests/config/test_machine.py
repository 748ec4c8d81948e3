"""A target with what was asked for: settings, a board, sizes."""

from __future__ import annotations

import pytest

from tilewright.config.machine import machine
from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.ir.platform import MemoryHierarchy
from tilewright.testing.cluster import CLUSTER, cluster


def test_sizes_and_memories_of_another_board() -> None:
    small = cluster(16 << 10)
    board = MemoryHierarchy(
        name="board", summary="", platform=CLUSTER.name, memories=small.memories, copies=CLUSTER.copies
    )
    asked = Options(memory_hierarchy="board")
    assert machine(CLUSTER, asked, {"board": board}).memory("l1").size_bytes == 16 << 10
    assert machine(CLUSTER, Options(memory={"l1": 4096}), {}).memory("l1").size_bytes == 4096


@pytest.mark.parametrize(
    ("options", "code"),
    [(Options(settings={"speed": "high"}), "TW1102"), (Options(memory={"l9": 1}), "TW1103")],
)
def test_what_the_target_does_not_have(options: Options, code: str) -> None:
    with pytest.raises(TilewrightError) as refused:
        machine(CLUSTER, options, {})
    assert refused.value.code == code
