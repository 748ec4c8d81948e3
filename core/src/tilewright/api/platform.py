"""For authors of targets and boards.

A target is a value: its memories, the engines that compute, and the copies between memories.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.config.board_families import read_board_family
from tilewright.ir.graphs.arithmetic import Arithmetic
from tilewright.ir.machines.board import Board
from tilewright.ir.machines.flash_waits import FlashWaits
from tilewright.ir.machines.instruction_costs import InstructionCosts
from tilewright.ir.machines.platform import CopyPath, Engine, Memory, MemoryHierarchy, Option, Platform
from tilewright.operators.arithmetics.shifts import shift_arithmetic

__all__ = [
    "Arithmetic",
    "Board",
    "CopyPath",
    "Engine",
    "FlashWaits",
    "InstructionCosts",
    "Memory",
    "MemoryHierarchy",
    "Option",
    "Platform",
    "read_board_family",
    "shift_arithmetic",
]
