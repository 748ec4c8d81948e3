"""Names of the model in comments: short there, and in full at the end of the file."""

from __future__ import annotations

from typing import Any

from tilewright.ir.programs.program import NamesInFull
from tilewright.lower.shown_names import names_in_full, shown_names

LONG = "model/first/Relu;model/norm/Fused;model/first/BiasAdd"


def of(toy: Any, value: str) -> tuple[dict[str, str], tuple[NamesInFull, ...]]:
    plan = toy.plan(toy.graph(names=(value, "y")))
    shown = shown_names(plan)
    return shown, names_in_full(plan, shown)


def test_a_name_is_called_by_the_part_that_tells_it_apart(toy: Any) -> None:
    shown, names = of(toy, LONG)
    assert shown[LONG] == "first/Relu" or len(shown[LONG]) < len(LONG)
    assert NamesInFull(of=shown[LONG], names=(LONG,)) in names


def test_names_that_are_short_already_are_in_no_table(toy: Any) -> None:
    shown, names = of(toy, "mfcc")
    assert shown["mfcc"] == "mfcc" and not any("mfcc" in (one.of, *one.names) for one in names)


def test_every_name_that_is_shortened_is_spelled_out_or_adds_to_one_that_is(toy: Any) -> None:
    shown, names = of(toy, LONG)
    spelled = {one.names[0]: one.of for one in names if not one.of.startswith("step ")}
    for name, short in shown.items():
        known = [whole for whole in spelled if name.startswith(whole)]
        assert short.lstrip("/") == name.lstrip("/") or any(
            short == spelled[one] + name[len(one) :] for one in known
        ), name


def test_nodes_that_a_comment_only_counts_are_told(toy: Any) -> None:
    _, names = of(toy, "mfcc")
    assert NamesInFull(of="step 0, beside Add", names=("/bias/_/evil",)) in names
