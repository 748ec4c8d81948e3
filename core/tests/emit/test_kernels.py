"""What a program has before its steps: the prelude of all, that of its target, and the sections of its kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.emit.kernels import kernel_fragments
from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.programs.program import Program
from tilewright.operators.c_code.c_source import c_fragment

LOW, HIGH = CodeFragment(name="low", text="int low;"), CodeFragment(name="high", text="int high;")
SOURCES = (replace(HIGH, needs=(LOW,)), LOW)


def program(toy: Any, prelude: str, sources: tuple[CodeFragment, ...]) -> Program:
    made: Program = toy.program(toy.graph())
    plan, scheduled = made.allocated, made.allocated.tiled.scheduled
    bound = replace(scheduled.bound, platform=replace(scheduled.bound.platform, prelude=prelude))
    tiled = replace(plan.tiled, scheduled=replace(scheduled, bound=bound))
    return replace(made, allocated=replace(plan, tiled=tiled), sources=sources)


@pytest.mark.parametrize(("prelude", "own"), [("", []), ("\n#define FAST 1\n", ["#define FAST 1"]), ("\n\n", [])])
def test_each_once_what_it_needs_before_it(prelude: str, own: list[str], toy: Any) -> None:
    found = kernel_fragments(program(toy, prelude, SOURCES))
    assert [section.text for section in found] == [c_fragment("prelude.h").text, *own, "int low;", "int high;"]


def test_no_kernel_needs_anything(toy: Any) -> None:
    assert kernel_fragments(program(toy, "#define FAST 1", ())) == ()
