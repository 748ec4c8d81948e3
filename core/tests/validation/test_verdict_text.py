"""A verdict says what was compared, what is wrong, and in an error where to look first."""

from __future__ import annotations

import sys
from dataclasses import replace

from tilewright.comparison.verdicts import Drift, OutputVerdict, StepVerdict, Verdict
from tilewright.errors import Exit
from tilewright.validation.verdict_text import mismatch, verdict_text

STEP = StepVerdict(name="conv", op="QConv", exact=True, different=0, max_difference=0)
OUTPUT = OutputVerdict(name="y", elements=1000, different=0, max_difference=0, argmax_equal=True, within=True)
GOOD = Verdict(steps=(STEP,), outputs=(OUTPUT,))


def nobody() -> str:
    raise AssertionError("no graph pass is asked for")


def test_a_verdict_without_fault() -> None:
    assert verdict_text(GOOD).splitlines() == [
        "output  elements  different  largest difference  bound  argmax",
        "y          1,000          0                   0      -  same",
        "1 of 1 steps are exact",
        "integer outputs identical to the reference",
        "PASS",
    ]


def test_steps_that_are_near_or_inside_groups_are_told() -> None:
    near = replace(STEP, bit_equal=False, of_allowed=0.25)
    text = verdict_text(Verdict(steps=(STEP, near), outputs=(OUTPUT,), inner=("a", "b")))
    assert (
        "2 of 2 steps are right: 1 exact, 1 inside the error model of floats (at most 25 % of what it allows)" in text
    )
    assert "and by them 2 more inside groups" in text


def test_the_first_wrong_step_is_named() -> None:
    wrong = replace(STEP, name="fc", exact=False, bit_equal=False, different=3, max_difference=2)
    verdict = Verdict(steps=(STEP, wrong), outputs=(OUTPUT,))
    error = mismatch(verdict, nobody)
    assert verdict_text(verdict).endswith("FAIL")
    assert (error.code, error.exit_code, error.where) == ("TW6002", Exit.MISMATCH, "step 'fc' (QConv)")


def test_outputs_are_told_by_kind_beside_whom_they_were_compared_with() -> None:
    near = replace(OUTPUT, name="z", is_float=True, different=3, max_difference=2.5e-7, bound=1e-6)
    text = verdict_text(Verdict(steps=(STEP,), outputs=(OUTPUT, near)))
    assert "integer outputs identical to the reference; float outputs within 2.5e-07 of the reference" in text
    assert "  1e-06  same" in text
    given = replace(near, given=True, allowed=1e-4)
    lines = verdict_text(Verdict(steps=(STEP,), outputs=(OUTPUT, given))).splitlines()
    assert lines[0].split()[-2] == "allowed"
    assert lines[2].split() == ["z", "1,000", "3", "2.5e-07", "0.0001", "same"]
    assert "float outputs within 2.5e-07 of the expected values" in lines[4]


def test_what_is_right_as_a_share_of_the_spread_says_so() -> None:
    near = replace(OUTPUT, is_float=True, given=True, different=1, max_difference=0.5, allowed=1e-4, share=0.0125)
    text = verdict_text(Verdict(steps=(STEP,), outputs=(near,)))
    assert "within 0.5 of the expected values (1.2 % of the spread; up to 5 % is right where a model rounds)" in text
    assert "spread" not in verdict_text(Verdict(steps=(STEP,), outputs=(replace(near, max_difference=5e-5),)))


def test_infinities_in_other_places_are_told_as_that() -> None:
    far = replace(
        OUTPUT, is_float=True, given=True, different=1, within=False, allowed=0.5, max_difference=sys.float_info.max
    )
    verdict = Verdict(steps=(STEP,), outputs=(far,))
    assert "float outputs have infinities or NaN where the expected values have none" in verdict_text(verdict)
    assert "infinities or NaN stand in other places" in str(mismatch(verdict, nobody))
    assert "e+308" not in verdict_text(verdict) + str(mismatch(verdict, nobody))


def test_expected_values_that_are_not_reached_are_not_called_a_wrong_step() -> None:
    far = replace(OUTPUT, within=False, different=1, max_difference=3, given=True, allowed=1.0)
    error = mismatch(Verdict(steps=(STEP,), outputs=(far,)), nobody)
    assert "integer outputs as far as 3 from the expected values" in verdict_text(Verdict(steps=(), outputs=(far,)))
    assert (error.code, error.where) == ("TW6002", "output 'y'")
    assert "expected values that were given" in error.message
    assert (
        "1 of 1,000 elements differ, by 3 at most and 0 % of the spread; where furthest out, 1 is allowed"
        in error.details[0]
    )


def test_an_output_that_is_not_what_its_step_wrote_has_no_advice_about_vectors() -> None:
    lost = replace(OUTPUT, within=False, as_written=False, different=1)
    error = mismatch(Verdict(steps=(STEP,), outputs=(lost,)), nobody)
    assert (error.code, error.where) == ("TW6002", "output 'y'")
    assert "hands out something else than it computed" in error.message
    assert "expected" not in str(error)


def test_what_a_graph_pass_moved_names_the_pass() -> None:
    far = Drift(verdict=replace(OUTPUT, different=5, max_difference=9), share=0.5, within=False)
    verdict = Verdict(steps=(STEP,), outputs=(OUTPUT,), drift=(far,))
    assert "graph passes moved 5 of 1,000 elements of 'y'" in verdict_text(verdict)
    error = mismatch(verdict, lambda: "pad-by-99")
    assert (error.code, error.where) == ("TW6003", "graph pass 'pad-by-99'")
