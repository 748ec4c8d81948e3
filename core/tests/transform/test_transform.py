"""Code passes: their order, what they may not do, and the built-in ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.programs.program import Program
from tilewright.ir.programs.statements import Dead, Hook, Live, Raw, StepCall
from tilewright.transform import HOOKS, LIFETIMES, CodePass, CodePassContext, transform
from tilewright.transform.transform import in_order


def made(name: str, after: tuple[str, ...] = (), before: tuple[str, ...] = ()) -> CodePass:
    return CodePass(name=name, summary="", apply=lambda program, context: program, after=after, before=before)


def test_order_follows_demands_not_load_order() -> None:
    passes = [made("c"), made("a", after=("b",)), made("b", after=("absent",)), made("d", before=("b",))]
    for arrangement in (passes, passes[::-1]):
        assert [one.name for one in in_order(arrangement)] == ["c", "d", "b", "a"]


def test_a_circle_is_named() -> None:
    with pytest.raises(TilewrightError, match=r"a|b") as refused:
        in_order([made("a", after=("b",)), made("b", after=("a",))])
    assert refused.value.code == "TW8031"


def test_only_defaults_and_wanted_passes_run(toy: Any) -> None:
    program = toy.program(toy.graph())
    assert transform(program, (LIFETIMES, HOOKS)).passes == ("hooks",)
    assert transform(program, (HOOKS, LIFETIMES), ("lifetimes",)).passes == ("lifetimes", "hooks")


def test_hooks_surround_every_step(toy: Any) -> None:
    body = transform(toy.program(toy.graph()), (HOOKS,)).body
    assert body[:3] == (Hook(step=0, phase="begin"), StepCall(step=0), Hook(step=0, phase="end"))
    assert len(body) == 12


def test_lifetimes_mark_every_buffer_once(toy: Any) -> None:
    program = transform(toy.program(toy.graph()), (LIFETIMES,), ("lifetimes",))
    live = [one.buffer for one in program.body if isinstance(one, Live)]
    dead = [one.buffer for one in program.body if isinstance(one, Dead)]
    assert sorted(live) == ["/turn.scratch", "/turn2.scratch", "again", "biased", "scores", "turned"]
    assert sorted(dead) == ["/turn.scratch", "/turn2.scratch", "again", "biased", "mfcc:0", "turned"]


def test_settings_reach_their_pass(toy: Any) -> None:
    def note(program: Program, context: CodePassContext) -> Program:
        return replace(program, body=(Raw(text=f"/* {context.settings['word']} */"), *program.body))

    noting = CodePass(name="note", summary="", apply=note, default=True)
    program = transform(toy.program(toy.graph()), (noting,), settings={"note": {"word": "hello"}, "other": {}})
    assert program.body[0] == Raw(text="/* hello */")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda program: replace(program, pools=(replace(program.pools[0], size_bytes=999),)), "changed pools"),
        (lambda program: replace(program, prefix="other"), "changed prefix"),
        (lambda program: replace(program, body=program.body[1:]), "every step"),
        (lambda program: replace(program, allocated=replace(program.allocated, plan_id=1)), "changed allocated"),
    ],
)
def test_a_pass_that_harms_is_named(toy: Any, harm: Any, said: str) -> None:
    harmful = CodePass(name="acme.harm", summary="", apply=lambda program, context: harm(program), default=True)
    with pytest.raises(TilewrightError, match=said) as refused:
        transform(toy.program(toy.graph()), (harmful, HOOKS), owners={"acme.harm": "acme 1.2"})
    assert refused.value.code == "TW8030"
    assert refused.value.message.startswith("code pass 'acme.harm' of acme 1.2 broke the program: ")


def test_a_pass_that_returns_no_program_is_named(toy: Any) -> None:
    lost: Any = CodePass(name="acme.lost", summary="", apply=lambda program, context: None, default=True)
    with pytest.raises(TilewrightError, match=r"code pass 'acme.lost': apply must return a Program, found None"):
        transform(toy.program(toy.graph()), (lost,))
