"""Knows what a target becomes by what was asked for: settings, a board or a memory hierarchy, pools, sizes.
Does not know any target, nor which settings are best.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.config.memory_pools import with_pools
from tilewright.config.options import Options
from tilewright.config.pins import demand_groups
from tilewright.ir.platform import MemoryHierarchy, Platform


def machine(offered: Platform, options: Options, hierarchies: Mapping[str, MemoryHierarchy]) -> Platform:
    """`offered`, configured. TilewrightError (exit 2) for what it does not have."""
    board, installed = options.board, options.memory_hierarchy
    platform = offered.configure({**(board.settings if board else {}), **options.settings})
    if installed:
        platform = hierarchies[installed].on(platform)
    if board:
        platform = board.on(platform)
    platform = with_pools(platform, options.pools)
    demand_groups(options.groups, platform)
    return platform.with_limits(options.memory)
