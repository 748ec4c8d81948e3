"""A judgement says what parts, how far each side is off, whether it is a tie, and who is right; and what is a fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.comparison.judgement import (
    AGREE,
    EACH,
    NEITHER,
    OURS,
    THEIRS,
    UNDECIDED,
    Example,
    Judgement,
    Side,
    Verdict,
)
from tilewright.errors import Exit, TilewrightError
from tilewright.report.plain_text import plain
from tilewright.validation.judgement_text import demand_no_fault, judgement_data, judgement_parts

EXAMPLE = Example(set=1, index=(0, 3), ours=4, theirs=5, exact=4, before=4.5, tie=True, from_tie=0)
PARTED = Judgement(
    right=OURS,
    value="y",
    node="conv",
    op="QConv",
    by_formula=True,
    is_float=False,
    elements=1000,
    parted=7,
    ties=3,
    known=("x",),
    roundings=1,
    theirs=Side(off=9, off_where_parted=7, largest=1),
    example=EXAMPLE,
)
OFF = replace(PARTED, right=THEIRS, ours=Side(off=8, off_where_parted=7, largest=1), theirs=Side())


def text(*judgements: Judgement) -> str:
    return plain(tuple(judgement_parts(Verdict(compared=4, equal=2, judgements=judgements), "device.npz", 3)))


def test_no_difference() -> None:
    assert text().splitlines() == [
        "4 value(s) that tilewright and device.npz both have, 3 set(s)",
        "",
        "verdict: both sides agree",
    ]
    assert judgement_data(Verdict(compared=4, equal=4), "device.npz", 3)["right"] == AGREE


def test_the_first_that_parts() -> None:
    said = text(PARTED).splitlines()
    first = "the first that parts is 'y', node 'conv' (QConv): 7 of 1,000 elements (2 before it are equal); "
    assert f"{first}computed exactly from x" in said
    assert "device.npz                     9                   7           1 step(s)" in said
    assert "first element: set 1, [0, 3]: tilewright 4, device.npz 5, exact 4" in said
    assert any("4.5 steps" in line and "a tie" in line for line in said)
    assert "3 of the elements that part are ties" in said
    assert said[-1] == "verdict: tilewright is right, device.npz is off"


def test_outputs_behind_it_decide() -> None:
    said = text(OFF, replace(PARTED, value="z"))
    assert "output 'z' parts" in said
    assert said.splitlines()[-1] == "verdict: tilewright is right, device.npz is off"


def test_no_tie() -> None:
    near = replace(PARTED, ties=0, example=replace(EXAMPLE, tie=False, from_tie=1e-6))
    assert "no tie, 1e-06 of a step from half-way" in text(near)
    assert "are ties" not in text(near)


def test_the_formula_is_told_from_a_fault() -> None:
    assert "by its documented formula QConv gives what tilewright has" in text(OFF)
    assert "differ at 8 of 1,000 elements, by 1 step(s) at most" in text(OFF)
    assert "formula" not in text(PARTED)
    assert "Conv is computed with floats by tilewright" in text(replace(OFF, op="Conv", by_formula=False))


@pytest.mark.parametrize(
    ("right", "said"),
    [
        (THEIRS, "device.npz is right"),
        (EACH, "right in places"),
        (NEITHER, "neither side"),
        (UNDECIDED, "undecided: why"),
    ],
)
def test_every_verdict_has_words(right: str, said: str) -> None:
    judgement = replace(OFF, right=right, reason="why", neither=1)
    assert said in text(judgement)
    found = judgement_data(Verdict(compared=4, equal=2, judgements=(judgement,)), "device.npz", 3)
    assert found["right"] == found["judgements"][0]["right"] == ("device.npz" if right == THEIRS else right)
    assert found["judgements"][0]["example"]["index"] == (0, 3)


def test_a_fault_is_an_error() -> None:
    far = replace(OFF, ours=Side(off=8, off_where_parted=7, largest=2))
    demand_no_fault(Verdict(compared=4, equal=2, judgements=(OFF, replace(far, roundings=2))))
    with pytest.raises(TilewrightError, match="off by 2") as caught:
        demand_no_fault(Verdict(compared=4, equal=2, judgements=(far,)))
    assert (caught.value.code, caught.value.exit_code) == ("TW6005", Exit.MISMATCH)


def test_nothing_decided_is_an_error() -> None:
    undecided = replace(PARTED, right=UNDECIDED, reason="node 'gru' (GRUSteps) has no rational arithmetic here")
    with pytest.raises(TilewrightError, match="cannot be decided") as caught:
        demand_no_fault(Verdict(compared=4, equal=2, judgements=(undecided,)))
    assert (caught.value.code, caught.value.exit_code) == ("TW6006", Exit.UNSUPPORTED)
