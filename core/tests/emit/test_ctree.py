"""The printer of the C tree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.emit.ctree import WIDTH, print_body, print_run, print_step
from tilewright.ir.programs.expressions import Choice, FunctionCall, Name, Number, equal, less
from tilewright.ir.programs.program import Parameter, Part, StepCode
from tilewright.ir.programs.statements import (
    Barrier,
    ByteRange,
    Comment,
    CopyStart,
    CopyWait,
    Dead,
    Declare,
    For,
    Foreign,
    Hook,
    If,
    KernelCall,
    KernelWait,
    Live,
    Raw,
    Role,
    Statement,
    StepCall,
    Switch,
)

REGION = ByteRange(buffer="b", offset_bytes=0, size_bytes=8)


FAR, H = Name("far"), Name("h")


def a_tile() -> For:
    """A loop with everything that a tile may be: a size of its own, copies, a branch, the kernel's call and its end."""
    left = Number(64) - H
    call = KernelCall(kernel="k", code=Foreign(text="compute(near, rows);"), reads=(REGION,), writes=(REGION,))
    copy = FunctionCall("dma", (Name("near"), FAR + H))
    return For(
        variable="h",
        start=Number(0),
        stop=Number(64),
        step=Number(16),
        body=(
            Declare(type="const int32_t", name="rows", value=Choice(less(left, 16), left, Number(16))),
            CopyStart(transfer="t", code=copy, source=REGION, target=REGION),
            CopyWait(transfer="t", code=FunctionCall("dma_wait")),
            If(
                condition=equal(H, 0),
                body=(Comment(lines=("first tile",)),),
                otherwise=(Raw(text="prefetch();\nmore();"),),
            ),
            call,
            KernelWait(kernel="k", code=Foreign(text="join();")),
        ),
    )


def a_step() -> StepCode:
    return StepCode(
        step="s",
        function="net_0_conv",
        comment=("Step 0 of 1: Conv", "  tiled"),
        parameters=(Parameter(type="uint8_t *", name="far"),),
        body=(
            a_tile(),
            For(variable="i", start=Number(0), stop=Number(4), step=Number(1), body=()),
            Live(buffer="b", pointer=FAR + 8, size_bytes=8),
            Dead(buffer="b", pointer=FAR, size_bytes=8),
        ),
    )


def test_a_tiled_step_reads_like_a_hand_written_one() -> None:
    assert (
        print_step(a_step())
        == """\
/* Step 0 of 1: Conv
 *   tiled
 */
TW_STEP void net_0_conv(uint8_t *far)
{
    for (int32_t h = 0; h < 64; h += 16) {
        const int32_t rows = ((64 - h) < 16) ? (64 - h) : 16;
        dma(near, far + h);
        dma_wait();
        if (h == 0) {
            /* first tile */
        } else {
            prefetch();
            more();
        }
        compute(near, rows);
        join();
    }
    for (int32_t i = 0; i < 4; ++i) {
    }
    TW_LIVE(far + 8, 8u);
    TW_DEAD(far, 8u);
}"""
    )


def test_a_step_with_hooks_may_end_the_run() -> None:
    hooked = (Hook(step=0, phase="begin"), StepCall(step=0))
    assert list(print_body(hooked, 0, (a_step(),))) == [
        "if (tw_on_step(ctx, 0u, TW_STEP_BEGIN) != 0) {",
        "    return TW_ERR_ABORTED;",
        "}",
        "net_0_conv(far);",
    ]


def test_a_step_without_parameters() -> None:
    step = StepCode(step="s", function="f", comment=("c",), parameters=(), body=(Raw(text="g();"),))
    assert print_step(step) == "/* c */\nTW_STEP void f(void)\n{\n    g();\n}"


def test_a_step_that_another_one_computes_is_a_comment() -> None:
    step = StepCode(step="s", function="f", comment=("c",), parameters=(), body=())
    assert print_step(step) == "/* c */"
    assert list(print_body((StepCall(step=0),), 0, (step,))) == []


def test_a_call_inside_of_loops_that_an_author_wrote_is_laid_out_where_it_stands() -> None:
    call = FunctionCall("kernel", tuple(Name(f"argument_{number}") for number in range(12)))
    code = Foreign(text="", lines=((0, "for (;;) {"), (1, call), (0, "}")))
    lines = list(print_body((KernelCall(kernel="k", code=code, reads=(), writes=()),), 1, ()))
    assert lines[0] == "    for (;;) {" and lines[-1] == "    }" and lines[1].startswith("        kernel(argument_0,")
    assert len(lines) == 4 and lines[2].startswith(" " * len("        kernel(") + "argument_")
    assert all(len(line) <= 120 for line in lines)


def test_the_last_case_of_a_switch_is_for_all_further_values() -> None:
    chosen = Switch(value=Name("x"), bodies=((Raw(text="one();"),), (Raw(text="two();"),)))
    assert list(print_body((chosen,), 1, ())) == [
        "    switch (x) {",
        "    case 0:",
        "        one();",
        "        break;",
        "    default:",
        "        two();",
        "        break;",
        "    }",
    ]


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


@pytest.mark.parametrize(("role", "storage"), [("rows", "TW_SHARED"), ("shared", "TW_SHARED"), ("compute", "static")])
def test_functions_of_rows_are_never_inlined(role: Role, storage: str) -> None:
    """All of a region in one function leaves every kernel too few registers: 43 % more instructions on an M0+."""
    part = Part(role=role, function="net_0_conv_rows", comment=("Rows.",), parameters=(), body=())
    step = StepCode(step="s", function="net_0", comment=("Step.",), parameters=(), body=(Barrier(),), parts=(part,))
    assert f"{storage} void net_0_conv_rows(void)" in print_step(step)
