"""A board on a target: its memories, and the targets that it is not for."""

from __future__ import annotations

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.ir.machines.board import Board
from tilewright.ir.machines.platform import CopyPath, Memory, Platform

RAM = Memory(name="ram", size_bytes=1024)
TOY = Platform(name="toy", family="toys", memories=(RAM,))


def test_its_memories_are_the_target_s() -> None:
    dtcm = Memory(name="dtcm", size_bytes=64)
    placed = Board(source="b", memories=(dtcm,)).on(TOY)
    assert [memory.name for memory in placed.memories] == ["dtcm", "rodata"]
    assert Board(source="b").on(TOY) == TOY


@pytest.mark.parametrize("target", ["", "toy", "toys"])
def test_it_is_for_a_target_or_its_family(target: str) -> None:
    assert Board(source="b", target=target).on(TOY) == TOY


@pytest.mark.parametrize(
    ("board", "platform", "says"),
    [
        (Board(source="b", target="other"), TOY, "it is for target 'other', not 'toy'"),
        (
            Board(source="b", memories=(RAM,)),
            Platform(name="tiled", memories=(RAM,), copies=(CopyPath(source="ram", target="pad"),)),
            "copies from or to pad",
        ),
        (
            Board(source="b", memories=(Memory(name="ram", size_bytes=1, access={"npu": "rw"}),)),
            TOY,
            "names engine 'npu'; 'toy' has cpu",
        ),
    ],
)
def test_what_is_not_for_it_is_refused(board: Board, platform: Platform, says: str) -> None:
    with pytest.raises(TilewrightError, match=says) as refused:
        board.on(platform)
    assert (refused.value.code, refused.value.exit_code) == ("TW1403", Exit.USAGE)
