"""Knows which memories the cores of a platform can read themselves, and where an application keeps tensors of its own.
Does not know what is placed anywhere.
"""

from __future__ import annotations

from tilewright.ir.machines.platform import Memory, Platform


def reachable(platform: Platform, memory: str) -> bool:
    """Whether the cores of the first engine can read a memory; if not, only copies can."""
    return platform.memory(memory).access.get(platform.engines[0].name) != "none"


def caller_memory(platform: Platform) -> Memory:
    """Where the caller's tensors are that are not in the plan: the backing memory, or the first ram in reach."""
    home = platform.backing_memory()
    if reachable(platform, home.name):
        return home
    return next((memory for memory in platform.of_kind("ram") if reachable(platform, memory.name)), home)
