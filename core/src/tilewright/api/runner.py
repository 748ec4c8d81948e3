"""For authors of runners.

What is to be run and what came of it, the program around a network, compilers, and what an ELF file says.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.ir.programs.runner import Job, Level, Runner, RunResult, Timeline, TimeSpan
from tilewright.runners.areas import Area
from tilewright.runners.elf import ElfSymbol, elf_code_bytes, elf_function_at, elf_symbols
from tilewright.runners.harness import Harness, Record, decode_outputs, decode_trace, make_harness
from tilewright.runners.toolchain import Compiler, execute, find_compiler, missing_compiler
from tilewright.runners.traced_lines import TracedRows

__all__ = [
    "Area",
    "Compiler",
    "ElfSymbol",
    "Harness",
    "Job",
    "Level",
    "Record",
    "RunResult",
    "Runner",
    "TimeSpan",
    "Timeline",
    "TracedRows",
    "decode_outputs",
    "decode_trace",
    "elf_code_bytes",
    "elf_function_at",
    "elf_symbols",
    "execute",
    "find_compiler",
    "make_harness",
    "missing_compiler",
]
