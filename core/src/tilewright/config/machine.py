"""Knows what a target becomes by what was asked for: settings, a board or a memory hierarchy, pools, sizes.
Does not know any target, nor which settings are best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.config.memory_pins import demand_groups
from tilewright.config.memory_pools import with_pools
from tilewright.config.options import Options
from tilewright.errors import Diagnostic
from tilewright.ir.machines.platform import MemoryHierarchy, Platform


def machine(offered: Platform, options: Options, hierarchies: Mapping[str, MemoryHierarchy]) -> Platform:
    """`offered`, configured. TilewrightError (exit 2) for what it does not have."""
    platform = with_pools(_on_board(offered, options, hierarchies), options.pools)
    demand_groups(options.groups, platform)
    return platform.with_limits(options.memory)


def board_notes(
    offered: Platform, options: Options, hierarchies: Mapping[str, MemoryHierarchy]
) -> Iterator[Diagnostic]:
    """A note (TW1124) that names the memories of a board that pools have taken the place of."""
    if not options.pools or not (options.board or options.memory_hierarchy):
        return
    board = _on_board(offered, options, hierarchies)
    kept = {memory.name for memory in with_pools(board, options.pools).memories}
    gone = [memory.name for memory in board.memories if memory.name not in kept]
    if gone:
        words = " ".join(f"--pool {name}" for name in gone)
        yield Diagnostic(
            code="TW1124",
            severity="note",
            message=f"memories of the board are not used, because --pool names others: {', '.join(gone)}",
            fix=(f"name these, too, to keep them beside your pools: {words}",),
        )


def _on_board(offered: Platform, options: Options, hierarchies: Mapping[str, MemoryHierarchy]) -> Platform:
    board, installed = options.board, options.memory_hierarchy
    platform = offered.configure({**(board.settings if board else {}), **options.settings})
    if installed:
        platform = hierarchies[installed].on(platform)
    return board.on(platform) if board else platform
