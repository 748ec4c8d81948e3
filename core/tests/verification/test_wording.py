"""A verdict says what was compared, what is wrong, and in an error where to look first."""

from __future__ import annotations

from dataclasses import replace

from tilewright.errors import Exit
from tilewright.validate.comparison import Drift, OutputVerdict, StepVerdict, Verdict
from tilewright.verification.wording import mismatch, verdict_text

STEP = StepVerdict(name="conv", op="QConv", exact=True, different=0, max_difference=0)
OUTPUT = OutputVerdict(name="y", elements=1000, different=0, max_difference=0, argmax_equal=True, within=True)
GOOD = Verdict(steps=(STEP,), outputs=(OUTPUT,))


def nobody() -> str:
    raise AssertionError("no graph pass is asked for")


def test_a_verdict_without_fault() -> None:
    assert verdict_text(GOOD).splitlines() == [
        "output  elements  different  largest difference  allowed  argmax",
        "y          1,000          0                   0        1  same",
        "1 of 1 steps are exact",
        "PASS",
    ]


def test_steps_that_are_near_or_inside_groups_are_told() -> None:
    near = replace(STEP, bit_equal=False, of_allowed=0.25)
    text = verdict_text(Verdict(steps=(STEP, near), outputs=(OUTPUT,), inner=("a", "b")))
    assert "1 inside the error model of floats (at most 25 % of what it allows)" in text
    assert "and by them 2 more inside groups" in text


def test_the_first_wrong_step_is_named() -> None:
    wrong = replace(STEP, name="fc", exact=False, bit_equal=False, different=3, max_difference=2)
    verdict = Verdict(steps=(STEP, wrong), outputs=(OUTPUT,))
    error = mismatch(verdict, nobody)
    assert verdict_text(verdict).endswith("FAIL")
    assert (error.code, error.exit_code, error.where) == ("TW6002", Exit.MISMATCH, "step 'fc' (QConv)")


def test_an_output_that_differs_while_all_steps_are_exact() -> None:
    error = mismatch(Verdict(steps=(STEP,), outputs=(replace(OUTPUT, within=False, different=1),)), nobody)
    assert (error.code, error.where) == ("TW6002", "output 'y'")


def test_what_a_graph_pass_moved_names_the_pass() -> None:
    far = Drift(verdict=replace(OUTPUT, different=5, max_difference=9), share=0.5, within=False)
    verdict = Verdict(steps=(STEP,), outputs=(OUTPUT,), drift=(far,))
    assert "graph passes moved 5 of 1,000 elements of 'y'" in verdict_text(verdict)
    error = mismatch(verdict, lambda: "pad-by-99")
    assert (error.code, error.where) == ("TW6003", "graph pass 'pad-by-99'")
