"""A target with what was asked for: settings, a board, sizes."""

from __future__ import annotations

import pytest

from tilewright.config.boards import parse_board
from tilewright.config.machine import board_notes, machine
from tilewright.config.memory_pools import PoolSpec
from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.ir.machines.platform import Memory, MemoryHierarchy, Platform
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


def test_memories_of_a_board_that_pools_end_are_named() -> None:
    offered = Platform(name="small", memories=(Memory(name="ram", size_bytes=64),))
    board = parse_board(
        b'[[memory]]\nname = "dtcm"\n[[memory]]\nname = "sram"\n[[memory]]\nname = "rom"\nkind = "const"', "b"
    )
    (note,) = board_notes(offered, Options(board=board, pools=(PoolSpec(name="fast"),)), {})
    assert (note.code, note.severity) == ("TW1124", "note")
    assert note.message.endswith(": dtcm, sram")
    assert note.fix[0].endswith(": --pool dtcm --pool sram")
    every = (PoolSpec(name="fast"), PoolSpec(name="dtcm"), PoolSpec(name="sram"))
    assert not tuple(board_notes(offered, Options(board=board, pools=every), {}))
    assert not tuple(board_notes(offered, Options(board=board), {}))
    assert not tuple(board_notes(offered, Options(pools=every), {}))
