"""Knows what a program has at file scope before its steps: what kernels rely on, then their sections, each once.
Does not know which file that becomes part of.
"""

from __future__ import annotations

from tilewright.ir.code_fragments import CodeFragment, ordered
from tilewright.ir.programs.program import Program
from tilewright.operators.c_code.c_source import c_fragment


def kernel_fragments(program: Program) -> tuple[CodeFragment, ...]:
    """The sections in their order; none where no kernel of the program has any."""
    if not program.sources:
        return ()
    platform = program.allocated.tiled.scheduled.bound.platform
    own = CodeFragment(name="", text=platform.prelude.strip("\n"), owner=platform.name)
    return ordered((c_fragment("prelude.h"), *([own] if own.text else []), *program.sources))
