"""`--state OUTPUT:INPUT`: what is joined, what it begins with, and what cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.config.options import Options
from tilewright.config.recurrent_state import (
    RecurrentState,
    demand_kept,
    initial_constants,
    initial_states,
    next_states,
    run_stream,
    state_io,
    states_of,
    states_of_plan,
    with_states,
)
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph, Tensor
from tilewright.ir.graphs.model_formats import KeptState
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def cell(state: str = "h:0", shape: tuple[int, ...] = (1, 3), dtype: DType = DType.F32) -> Graph:
    """The sum of a frame and a state, which is the next state; and a part of it. Names have colons, too."""
    sketch = Sketch(operators=vocabulary())
    total = sketch.node("Add", (sketch.input("x", dtype, shape), sketch.input(state, dtype, shape)), name="new")
    part = sketch.node("Slice", (total,), {"starts": (0, 0), "steps": (1, 1), "shape": (1, 2)}, name="part")
    return sketch.finish(total, part)


def test_an_output_is_the_input_of_the_next_run_and_begins_with_zeros() -> None:
    (state,) = states_of(["new:0:h:0"], cell())
    assert (state.output, state.input) == ("new:0", "h:0")
    assert state.initial.tolist() == [[0, 0, 0]] and state.initial.dtype == np.float32
    assert state_io(["new:0:h:0"], cell()) == {"new:0", "h:0"}
    assert initial_constants([state], {"h:0": (0, 1)}) == {}


@pytest.mark.parametrize(("text", "value"), [("new:0:h:0=0.5", 0.5), ("new:0:h:0=-2e1", -20)])
def test_it_may_begin_with_a_number(text: str, value: float) -> None:
    (state,) = states_of([text], cell())
    assert state.initial.tolist() == [[value] * 3]
    assert initial_constants([state], {"h:0": (0, 1)})["h:0.initial"].tolist() == [[value] * 3]


def test_what_it_begins_with_is_stored_as_the_state_is(tmp_path: Path) -> None:
    np.save(tmp_path / "first.npy", np.float32([[1, 2, 3], [4, 5, 6]]))
    (state,) = states_of(["new:0:h:0=first.npy"], cell(shape=(2, 3)), tmp_path)
    assert initial_constants([state], {"h:0": (1, 0)})["h:0.initial"].ravel().tolist() == [1, 4, 2, 5, 3, 6]


def test_or_with_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "first.npy", np.float32([[1, 2, 3]]))
    (state,) = states_of(["new:0:h:0=first.npy"], cell(), tmp_path)
    assert state.initial.tolist() == [[1, 2, 3]]


def test_names_that_exist_decide_what_is_a_name() -> None:
    (state,) = states_of(["new:0:h=0"], cell("h=0"))
    assert (state.input, state.initial.tolist()) == ("h=0", [[0, 0, 0]])


WRONG = {
    "new:0": "the model has no output 'new'",
    "new": "'new' cannot be read",
    ":h:0": "':h:0' cannot be read",
    "new:0:": "the model has no output 'new'",
    "nwe:h:0": "the model has no output 'nwe'",
    "part:0:h:0": "output 'part:0' is f32[1, 2], input 'h:0' is f32[1, 3]",
    "new:0:h:0=much": "'much' is no number and no .npy file",
    "new:0:h:0=gone.npy": "cannot read",
    "new:0:h:0=wrong.npy": "'wrong.npy' is float64[2], input 'h:0' is float32[1, 3]",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_cannot_be_kept_says_why(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("wrong.npy", np.zeros(2))
    with pytest.raises(TilewrightError) as caught:
        states_of([text], cell())
    error = caught.value
    assert (error.code, error.exit_code) == ("TW1114", Exit.USAGE)
    assert f"the state cannot be kept: {WRONG[text]}" in error.message
    assert "write it as --state OUTPUT:INPUT" in error.fix[0]


def test_what_has_no_elements_is_not_kept() -> None:
    nothing = Tensor(name="h:0", dtype=DType.F32, shape=(0, 3))
    empty = cell()
    empty = replace(empty, tensors={**empty.tensors, "h:0": nothing, "new:0": replace(nothing, name="new:0")})
    with pytest.raises(TilewrightError, match="input 'h:0' has no elements") as caught:
        states_of(["new:0:h:0"], empty)
    assert (caught.value.code, caught.value.exit_code) == ("TW1114", Exit.USAGE)
    assert caught.value.fix == ("leave that --state out: there is nothing to keep",)


def test_an_input_has_one_state() -> None:
    with pytest.raises(TilewrightError, match="input 'h:0' is given a value twice"):
        states_of(["new:0:h:0", "new:0:h:0=1"], cell())


def test_a_file_of_decisions_keeps_no_other_state_than_flags() -> None:
    demand_kept({}, {"h": "new"})
    demand_kept({"h": "new"}, {"h": "new"})
    for kept in ({}, {"h": "part"}):
        with pytest.raises(TilewrightError, match="'new' as state for input 'h', and no --state says so") as caught:
            demand_kept({"h": "new"}, kept)
        assert (caught.value.code, caught.value.exit_code) == ("TW1114", Exit.USAGE)


def test_integers_begin_with_integers() -> None:
    whole = cell(dtype=DType.I8)
    assert states_of(["new:0:h:0=-7"], whole)[0].initial.tolist() == [[-7] * 3]
    for value in ("0.5", "200"):
        with pytest.raises(TilewrightError, match=f"input 'h:0' is i8 and cannot be {value}"):
            states_of([f"new:0:h:0={value}"], whole)


def test_a_stream_hands_states_from_frame_to_frame() -> None:
    states = states_of(["new:0:h:0=1"], cell())

    def run(given: Mapping[str, Any]) -> dict[str, Any]:
        return {"new:0": given["x"] + given["h:0"]}

    frames = [{"x": np.full((1, 3), value, np.float32)} for value in (10, 100)]
    given, found = run_stream(frames, states, run)
    assert [one["h:0"][0, 0] for one in given] == [1, 11]
    assert [one["new:0"][0, 0] for one in found] == [11, 111]
    assert initial_states(states)["h:0"][0, 0] == 1
    assert next_states(states, found[-1])["h:0"][0, 0] == 111


def test_a_finished_plan_knows_its_states(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    kept = replace(plan, decisions=replace(plan.decisions, state={"mfcc:0": "scores"}))
    (state,) = states_of_plan(kept)
    assert (state.input, state.output, state.initial.tolist()) == ("mfcc:0", "scores", [[0] * 10])


@pytest.mark.parametrize("layout", [(0, 1), (1, 0)])
def test_and_what_they_begin_with_however_they_are_stored(toy: Any, layout: tuple[int, ...]) -> None:
    plan = toy.plan(toy.graph())
    tiled, scheduled = plan.tiled, plan.tiled.scheduled
    bound = scheduled.bound
    begun = np.arange(bound.graph.tensors["mfcc:0"].elements).reshape(bound.graph.tensors["mfcc:0"].shape)
    state = RecurrentState(input="mfcc:0", output="scores", initial=begun)
    layouts = {**bound.layouts, "mfcc:0": layout}
    bound = replace(bound, layouts=layouts, constants={**bound.constants, **initial_constants([state], layouts)})
    tiled = replace(tiled, scheduled=replace(scheduled, bound=bound))
    kept = replace(plan, tiled=tiled, decisions=replace(plan.decisions, state={"mfcc:0": "scores"}))
    (found,) = states_of_plan(kept)
    assert np.array_equal(found.initial, begun)


def test_a_model_keeps_state_by_its_own_word() -> None:
    begun = np.float32([[1, 2, 3]])
    own = (KeptState(output="new:0", input="h:0", initial=begun),)
    asked = with_states(Options(), own)
    assert asked.states == ("new:0:h:0",)
    (state,) = states_of(asked.states, cell(), kept=own)
    assert state.initial is begun


@pytest.mark.parametrize("flag", ["new:0:h:0", "new:0:h:0=0.5"])
def test_a_flag_overrules_it(flag: str) -> None:
    own = (KeptState(output="new:0", input="h:0"), KeptState(output="new:0", input="other"))
    assert with_states(Options(states=(flag,)), own).states == (flag, "new:0:other")


def test_its_beginning_is_of_the_inputs_form() -> None:
    own = (KeptState(output="new:0", input="h:0", initial=np.zeros((2, 3), np.float32)),)
    with pytest.raises(TilewrightError, match=r"its beginning is float32\[2, 3\]"):
        states_of(("new:0:h:0",), cell(), kept=own)
