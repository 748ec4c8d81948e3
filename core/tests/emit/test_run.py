"""The run function: steps one after the other, or a loop where hooks surround several alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.emit.ctree import WIDTH
from tilewright.emit.run import print_run
from tilewright.ir.programs.program import Parameter, StepCode
from tilewright.ir.programs.statements import Hook, Raw, Statement, StepCall


def test_hooks_around_every_step_are_a_loop() -> None:
    steps = [StepCode(step=name, function=name, comment=(), parameters=(), body=(Raw(text=";"),)) for name in "fgh"]
    steps[1] = replace(steps[1], body=())
    body = hooked(0, 1, 2)
    text = "\n".join(print_run((*body, Raw(text="after();")), steps, "NET_STEP_COUNT"))
    assert (
        text
        == """\
    for (uint32_t step = 0; step < NET_STEP_COUNT; ++step) {
        if (tw_on_step(ctx, step, TW_STEP_BEGIN) != 0) {
            return TW_ERR_ABORTED;
        }
        switch (step) {
        case 0: f(); break;
        case 2: h(); break;
        default: break; /* another step computes it, too */
        }
        if (tw_on_step(ctx, step, TW_STEP_END) != 0) {
            return TW_ERR_ABORTED;
        }
    }
    after();"""
    )
    apart = "\n".join(print_run((*body[:2], Raw(text="between();"), *body[2:]), steps, "NET_STEP_COUNT"))
    assert "    between();" in apart and "case 0" not in apart
    assert "for (uint32_t step = 1u; step < NET_STEP_COUNT; ++step) {" in apart
    assert "step < 2u" in "\n".join(print_run(body[:6], steps, "NET_STEP_COUNT"))


def hooked(*steps: int) -> tuple[Statement, ...]:
    """The calls of these steps, each between its hooks."""
    return tuple(
        one for at in steps for one in (Hook(step=at, phase="begin"), StepCall(step=at), Hook(step=at, phase="end"))
    )


def step(name: str, parameters: tuple[Parameter, ...] = ()) -> StepCode:
    return StepCode(step=name, function=name, comment=(), parameters=parameters, body=(Raw(text=";"),))


def test_one_step_is_no_loop() -> None:
    lines = list(print_run(hooked(0), [step("f")], "COUNT"))
    assert not any("for (" in line for line in lines)
    assert [line.strip() for line in lines if "f(" in line] == ["f();"]
    assert [line.count("0u") for line in lines if "tw_on_step" in line] == [1, 1]


@pytest.mark.parametrize("order", [(0, 2), (1, 0)])
def test_a_loop_counts_upwards(order: tuple[int, ...]) -> None:
    assert "for (" not in "".join(print_run(hooked(*order), [step(name) for name in "fgh"], "COUNT"))


def test_a_call_that_is_too_long_for_its_line() -> None:
    """It goes below its case, and no line is longer than the others of the file."""
    parameters = tuple(Parameter(name=f"the_long_name_of_parameter_{number}", type="uint8_t *") for number in range(6))
    lines = list(print_run(hooked(0, 1), [step("short"), step("long", parameters)], "COUNT"))
    assert max(map(len, lines)) <= WIDTH
    at = next(number for number, line in enumerate(lines) if line.strip() == "case 1:")
    assert lines[at + 1].strip().startswith("long(") and lines[at - 1].strip() == "case 0: short(); break;"
    assert "break;" in [line.strip() for line in lines[at + 2 :]]
    assert "            default: break;" not in lines and "        default: break;" in lines  # no step is left out
