"""Names of the model in comments: short there, and in full at the end of the file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tilewright.ir.programs.program import NamesInFull
from tilewright.lower.names import names_in_full, offset_names, shown_names
from tilewright.testing.one_step import vocabulary

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


def test_a_buffer_is_called_after_the_first_step_that_writes_or_reads_it(toy: Any) -> None:
    assert offset_names(toy.plan(toy.graph()), toy.operators, "toy") == {
        "mfcc:0": "IN_MFCC_0",
        "biased": "TOYBIAS_0_OUT",
        "/bias.B": "TOYBIAS_0_B",
        "turned": "TOYREVERSE_1_OUT",
        "/turn.scratch": "TOYREVERSE_1_SCRATCH",
        "again": "TOYBIAS_2_OUT",
        "scores": "TOYREVERSE_3_OUT",
        "/turn2.scratch": "TOYREVERSE_3_SCRATCH",
    }


def test_what_is_not_ours_has_no_name(toy: Any) -> None:
    found = offset_names(toy.plan(toy.graph(), io="user"), toy.operators, "toy")
    assert "mfcc:0" not in found and "scores" not in found and "biased" in found
    memories = tuple(
        replace(one, managed_by="application") if one.name == "ram" else one for one in toy.platform.memories
    )
    placed = toy.plan(toy.graph(), platform=replace(toy.platform, memories=memories))
    assert set(offset_names(placed, toy.operators, "toy")) == {"/bias.B"}


def test_tile_buffers_are_named_by_memory_and_number(pools: Any) -> None:
    assert offset_names(pools.plan, vocabulary(), "net") == {
        "x": "IN_X",
        "c:0": "MAXPOOL_2_OUT",
        "a.X@l1#0": "MAXPOOL_0_X_L1_0",
        "a.Y@l1#0": "MAXPOOL_0_Y_L1_0",
        "b.Y@l1#0": "CLIP_1_Y_L1_0",
        "c.Y@l1#0": "MAXPOOL_2_Y_L1_0",
        "c.Y@l1#1": "MAXPOOL_2_Y_L1_1",
    }


def test_what_has_no_role_has_its_own_name_and_none_is_taken_twice(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    place = plan.placements["turned"]
    more = {**plan.placements, "other thing": place, "ToyBias 0 out": place}
    found = offset_names(replace(plan, placements=more), toy.operators, "toy")
    assert found["other thing"].startswith("BUFFER_OTHER_THING")
    assert len(set(found.values())) == len(found) == len(more)


def test_no_name_begins_like_a_macro_of_the_header(toy: Any) -> None:
    found = offset_names(toy.plan(toy.graph()), toy.operators, "in")
    assert found["mfcc:0"] == "AT_IN_MFCC_0" and not any(name.startswith("IN_") for name in found.values())
