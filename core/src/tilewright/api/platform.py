"""For authors of targets and boards.

A target is a value: its memories, the engines that compute, and the copies between memories.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.ir.machines.instruction_costs import InstructionCosts
from tilewright.ir.machines.platform import CopyPath, Engine, Memory, MemoryHierarchy, Option, Platform

__all__ = ["CopyPath", "Engine", "InstructionCosts", "Memory", "MemoryHierarchy", "Option", "Platform"]
