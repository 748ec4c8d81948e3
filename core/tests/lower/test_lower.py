"""From a plan to a tree: addresses, parameters, comments, and tensors of the caller."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.programs.program import Program
from tilewright.ir.programs.statements import Declare, KernelCall, StepCall
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower


def calls(program: Program) -> list[KernelCall]:
    return [one for step in program.steps for one in step.body if isinstance(one, KernelCall)]


def pointers(program: Program) -> list[dict[str, str]]:
    return [{one.name: str(one.value) for one in step.body if isinstance(one, Declare)} for step in program.steps]


def test_every_step_is_called_once_at_planned_addresses(toy: Any) -> None:
    program = toy.program(toy.graph())
    assert program.body == tuple(StepCall(step=index) for index in range(4))
    assert [step.function for step in program.steps] == [
        "toy_0_toybias", "toy_1_toyreverse", "toy_2_toybias", "toy_3_toyreverse",
    ]  # fmt: skip
    assert str(calls(program)[0].code) == "tw_toy_bias(10, x, b, y)"
    assert pointers(program)[0] == {
        "x": "(const int8_t *)(ram + IN_MFCC_0)",
        "b": "(const int8_t *)(flash + TOYBIAS_0_B)",
        "y": "(int8_t *)(ram + TOYBIAS_0_OUT)",
    }
    assert program.offsets["biased"] == "TOYBIAS_0_OUT"
    assert set(program.offsets) == set(program.allocated.placements)


def test_equal_sources_are_kept_once_and_licences_listed(toy: Any) -> None:
    program = toy.program(toy.graph())
    assert len(program.sources) == 2
    assert [(one.kernel, one.licence) for one in program.licences] == [("acme.toy_reverse", "MIT")]


def test_scratch_is_written_by_its_step(toy: Any) -> None:
    call = calls(toy.program(toy.graph()))[1]
    assert [region.buffer for region in call.writes] == ["turned", "/turn.scratch"]
    assert call.writes[1].size_bytes == 8


def test_comments_say_what_is_where(toy: Any) -> None:
    program = toy.program(toy.graph())
    comment = "\n".join(program.steps[0].comment)
    assert "Step 0 of 4: ToyBias" in comment
    assert "portable.toy_bias" in comment
    assert "flash [16, 26)" in comment
    (further,) = (one.names for one in program.names if one.of.startswith("step 0,"))
    assert further == ("/bias/_/evil",)  # a comment cannot be ended by a node's name


def test_tensors_of_the_caller_are_parameters(toy: Any) -> None:
    program = toy.program(toy.graph(), io="user")
    assert [one.name for one in program.steps[0].parameters] == ["flash", "mfcc_0", "ram"]
    assert program.inputs[0].pool == program.outputs[0].pool == ""
    assert pointers(program)[0]["x"] == "(const int8_t *)mfcc_0"
    assert program.outputs[0].copied_from == ""


def pass_through() -> Graph:
    """An output that is an input, and another output that is computed."""
    tensors = {name: Tensor(name=name, dtype=DType.F32, shape=(5,)) for name in ("x", "y")}
    nodes = (Node(name="h", op="ToyHalf", inputs=("x",), outputs=("y",)),)
    return Graph(name="pass", inputs=("x",), outputs=("x", "y"), nodes=nodes, tensors=tensors, constants={})


def test_an_input_that_is_an_output_is_copied_for_the_caller(toy: Any) -> None:
    program = toy.program(pass_through(), io="user")
    assert program.outputs[0].copied_from == "(const uint8_t *)inputs->x"
    assert program.outputs[0].member != program.inputs[0].member
    assert program.outputs[1].copied_from == ""


def test_an_input_that_is_an_output_shares_its_bytes_in_a_pool(toy: Any) -> None:
    program = toy.program(pass_through())
    one, other = program.inputs[0], program.outputs[0]
    assert (one.pool, one.offset_bytes) == (other.pool, other.offset_bytes)


def test_a_tensor_inside_a_larger_one_cannot_stay_with_the_caller(toy: Any) -> None:
    plan = toy.plan(toy.graph(), io="user")
    buffers = tuple(
        replace(one, size_bytes=one.size_bytes + 8) if one.name == "scores" else one for one in plan.tiled.buffers
    )
    larger = replace(plan, tiled=replace(plan.tiled, buffers=buffers))
    with pytest.raises(TilewrightError) as refused:
        lower(larger, toy.operators, "toy")
    assert refused.value.code == "TW5020"
    assert "--io pool" in refused.value.fix[0]


def test_lowering_twice_gives_equal_programs(toy: Any) -> None:
    one, other = toy.program(toy.graph()), toy.program(toy.graph())
    assert (one.steps, one.sources, one.inputs) == (other.steps, other.sources, other.inputs)
