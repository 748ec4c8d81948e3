"""Knows which memories of a board a network is tried in, its first RAM alone, then all of them; and which boards have
the same ones, so that they are asked about once.
Does not know any network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tilewright.config.memory_pools import PoolSpec
from tilewright.ir.machines.board import Board
from tilewright.ir.machines.platform import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A board, and the one of its RAMs that is used; "" is all of them. On one memory steps can be computed row by row,
    which takes less of it: that is asked first.
    """

    board: Board
    only: str = ""
    reserved_bytes: int = 0  # of the first RAM, kept for the application

    @property
    def flags(self) -> str:
        """What to type for it."""
        limits = "".join(f" --memory {name}={size}" for name, size in self.limits.items())
        return f"--board {self.board.name}" + (f" --pool {self.only}" if self.only else "") + limits

    @property
    def limits(self) -> Mapping[str, int]:
        """What `--memory` of the flags says."""
        first = next(memory for memory in self.board.memories if memory.kind == "ram")
        if not self.reserved_bytes or first.size_bytes is None:
            return {}
        return {first.name: max(first.size_bytes - self.reserved_bytes, 0)}

    @property
    def pools(self) -> tuple[PoolSpec, ...]:
        """What `--pool` of the flags says."""
        return (PoolSpec(name=self.only),) if self.only else ()

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Those that are used, in the board's order."""
        return tuple(
            replace(memory, size_bytes=self.limits.get(memory.name, memory.size_bytes))
            for memory in self.board.memories
            if memory.kind == "const" or self.only in ("", memory.name)
        )

    @property
    def single(self) -> bool:
        """Whether there is one RAM."""
        return len([memory for memory in self.memories if memory.kind == "ram"]) == 1

    @property
    def sizes(self) -> Mapping[str, int | None]:
        """Memory -> bytes; None is no limit."""
        return {memory.name: memory.size_bytes for memory in self.memories}

    @property
    def form(self) -> str:
        """The same for two questions whose memories differ in sizes, addresses and sections alone: in nothing that a
        plan depends on but limits.
        """
        plain = [replace(each, size_bytes=None, base=None, section="", machine_bytes=None) for each in self.memories]
        return repr((self.board.target, sorted(self.board.settings.items()), plain))

    @property
    def key(self) -> tuple[str, tuple[tuple[str, int | None], ...]]:
        """The same for two questions that have one answer."""
        return self.form, tuple(self.sizes.items())

    def without_limits(self) -> Question:
        """The same memories, each without an end."""
        endless = tuple(replace(each, size_bytes=None, machine_bytes=None) for each in self.board.memories)
        return replace(self, board=replace(self.board, memories=endless))


def questions(board: Board, reserved_bytes: int = 0) -> Iterator[Question]:
    """What is asked about a board, the first that fits being the answer."""
    rams = [memory.name for memory in board.memories if memory.kind == "ram"]
    if len(rams) > 1:
        yield Question(board=board, only=rams[0], reserved_bytes=reserved_bytes)
    yield Question(board=board, reserved_bytes=reserved_bytes)


def by_target(boards: Iterable[Board]) -> Mapping[str, tuple[Board, ...]]:
    """Boards by their targets, in the order of both."""
    result: dict[str, list[Board]] = {}
    for board in boards:
        result.setdefault(board.target, []).append(board)
    return {target: tuple(result[target]) for target in sorted(result)}
