"""Knows what a target becomes by what was asked for: settings, a board or a memory hierarchy, pools, sizes.
Does not know any target, nor which settings are best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.config.memory_pools import with_pools
from tilewright.config.options import Options
from tilewright.errors import Diagnostic, usage_error
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
    memories = {memory.name for memory in with_pools(board, options.pools).memories}
    unused = [memory.name for memory in board.memories if memory.name not in memories]
    if unused:
        flags = " ".join(f"--pool {name}" for name in unused)
        yield Diagnostic(
            code="TW1124",
            severity="note",
            message=f"memories of the board are not used, because --pool names others: {', '.join(unused)}",
            fix=(f"name these, too, to keep them beside your pools: {flags}",),
        )


def _on_board(offered: Platform, options: Options, hierarchies: Mapping[str, MemoryHierarchy]) -> Platform:
    board, installed = options.board, options.memory_hierarchy
    platform = offered.configure({**(board.settings if board else {}), **options.settings})
    if installed:
        platform = hierarchies[installed].on(platform)
    return board.on(platform) if board else platform


def demand_groups(longest: int | None, platform: Platform) -> None:
    """Steps are joined in a scratchpad. TilewrightError TW1117 (exit 2) where there is none to join them in."""
    if (longest or 1) > 1 and not platform.inner:
        raise usage_error(
            "TW1117",
            f"--groups {longest}: target '{platform.name}' has no scratchpad in which steps are joined",
            details=("every step reads and writes the memory where values live",),
            fix=("leave --groups out",),
        )
