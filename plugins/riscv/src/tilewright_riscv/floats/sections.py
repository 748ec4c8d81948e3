"""Knows how functions of floats become sections of C, each with what it calls.
Does not know what they compute.

Files `.inc` are C whose names and macros begin with `${prefix}` and `${PREFIX}`: no compiler takes them on their own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from string import Template

from tilewright.api.kernel import CodeFragment, fragment_file
from tilewright_riscv.floats.functions import BELL, BELOW_RELU, LARGEST, REACH, TOTAL
from tilewright_riscv.floats.lanes import Dialect, Program, function_text

GELU, GELU_RUN = (REACH, BELL, BELOW_RELU), 16  # elements at a time, as gelu.inc has it


@cache
def function_section(program: Program, dialect: Dialect) -> CodeFragment:
    """The C function over runs."""
    text = function_text(program, dialect)
    root = (root_section(dialect),) if "_root(" in text else ()
    nan = (shared_section("any_nan.inc", dialect, TOTAL),) if program.keeps_nan else ()
    within = (dialect.within,) if program.within and dialect.within else ()
    needs = (scalar_section(dialect), *root, *nan, *within)
    return CodeFragment(name=dialect.function(program), text=text, needs=needs, owner=dialect.owner)


@cache
def shared_section(file: str, dialect: Dialect, *programs: Program) -> CodeFragment:
    """The C in a file beside this module, which calls the functions of `programs`."""
    functions = (function_section(program, dialect) for program in programs)
    return _named(file, dialect, scalar_section(dialect), *functions)


@cache
def scalar_section(dialect: Dialect) -> CodeFragment:
    """`{prefix}_f32_fma`, `_max`, `_min`, `_abs`, `_signed`, `_bits` and `_from`."""
    return _named("scalar.inc", dialect, dialect.fpu)


@cache
def root_section(dialect: Dialect) -> CodeFragment:
    """`{prefix}_f32_root`."""
    return _named("root.inc", dialect, dialect.fpu)


def _named(file: str, dialect: Dialect, *needs: CodeFragment) -> CodeFragment:
    """The C in a file beside this module, in the names of a machine."""
    result = fragment_file("tilewright_riscv.floats", file)
    text = Template(result.text).substitute(prefix=dialect.prefix, PREFIX=dialect.macro)
    return replace(
        result, name=f"{dialect.owner}/{file}", text=text, needs=(*result.needs, *needs), owner=dialect.owner
    )


def gelu_section(dialect: Dialect) -> CodeFragment:
    """`{prefix}_f32_gelu` of count, x, x_step, y, y_step."""
    return shared_section("gelu.inc", dialect, *GELU)


def base_section(dialect: Dialect) -> CodeFragment:
    """`{prefix}_f32_base` of count, x, x_step: what a softmax subtracts."""
    return shared_section("base.inc", dialect, LARGEST)
