"""What a code pass is: a function of a program and of settings without its own name, in an order it may ask for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.programs.code_pass import CodePass, CodePassContext
from tilewright.ir.programs.program import Program
from tilewright.transform import transform


def noting(name: str, log: list[tuple[str, dict[str, str]]], **more: Any) -> CodePass:
    def apply(program: Program, context: CodePassContext) -> Program:
        log.append((name, dict(context.settings)))
        return program

    return CodePass(name=name, summary="", apply=apply, **more)


def test_passes_run_in_the_order_that_they_ask_for_and_only_where_they_are_wanted(toy: Any) -> None:
    log: list[tuple[str, dict[str, str]]] = []
    first, last = noting("z-first", log, before=("a-last",)), noting("a-last", log)
    never, always = noting("never", log), noting("always", log, default=True, after=("a-last", "absent"))
    program = toy.program(toy.graph())
    changed = transform(program, (last, never, always, first), ("a-last", "z-first"))
    assert replace(changed, passes=()) == program and changed.passes == ("z-first", "a-last", "always")
    assert [name for name, _ in log] == ["z-first", "a-last", "always"]


def test_a_pass_has_the_settings_that_are_its_own(toy: Any) -> None:
    log: list[tuple[str, dict[str, str]]] = []
    passes = (noting("one", log, settings=("depth",)), noting("other", log))
    transform(toy.program(toy.graph()), passes, ("one", "other"), {"one": {"depth": "3"}})
    assert log == [("one", {"depth": "3"}), ("other", {})]
    with pytest.raises(TilewrightError):
        transform(toy.program(toy.graph()), passes, ("one",), {"one": {"width": "3"}})


def test_without_settings_there_are_none() -> None:
    assert CodePassContext().settings == {} and CodePassContext() == CodePassContext(settings={})
    made = noting("one", [])
    assert (made.default, made.after, made.before, made.settings) == (False, (), (), None)
    assert replace(made, default=True).default
