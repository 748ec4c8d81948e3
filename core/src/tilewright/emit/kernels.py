"""Knows what a program has at file scope before its steps: what kernels rely on, then their sections, each once.
Does not know which file that becomes part of.
"""

from __future__ import annotations

from tilewright.ir.program import Program
from tilewright.ir.sections import Section, ordered
from tilewright.operators.c_source import c_section


def kernel_sections(program: Program) -> tuple[Section, ...]:
    """The sections in their order; none where no kernel of the program has any."""
    if not program.sources:
        return ()
    platform = program.allocated.tiled.scheduled.bound.platform
    own = Section(name="", text=platform.prelude.strip("\n"), owner=platform.name)
    return ordered((c_section("prelude.h"), *([own] if own.text else []), *program.sources))
