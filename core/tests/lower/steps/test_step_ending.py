"""What is left of a step stands at the end of a later one, which has the memories of both."""

from __future__ import annotations

from engine_plans import branches

from tilewright.ir.programs.program import Part, StepCode
from tilewright.ir.programs.statements import Barrier, PartCall
from tilewright.lower.names import offset_names
from tilewright.lower.operands.addresses import address_book, members_of
from tilewright.lower.steps.step_ending import Ending


def test_a_step_ends_with_the_end_of_another() -> None:
    plan = branches()
    book = address_book(
        plan.allocated,
        members_of(plan.bound.graph, "net"),
        offset_names(plan.allocated, plan.registry.operators, "net"),
    )
    far, near = (next(base for base in book.bases if base.name == name) for name in ("l2", "l1"))
    part = Part(role="pipeline", function="net_0_end", comment=("",), parameters=(far, near), body=(Barrier(),))
    code = StepCode(step="two", function="net_2", comment=("",), parameters=(far,), body=(Barrier(),))
    made = Ending(part=part, parts=()).behind(code, book)
    assert made.parts == (part,)
    assert [parameter.name for parameter in made.parameters] == ["l1", "l2"]
    barrier, call = made.body
    assert isinstance(barrier, Barrier)
    assert isinstance(call, PartCall)
    assert (call.function, call.arguments) == ("net_0_end", (far.variable, near.variable))
