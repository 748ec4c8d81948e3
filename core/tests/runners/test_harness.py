"""The program around a network: what it is given, and that what it wrote is read back as it was."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.emit import EmitOptions
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.programs.runner import Job
from tilewright.ir.tensors.dtypes import DType
from tilewright.runners.harness import _decoded, decode_outputs, decode_trace, make_harness

X = np.arange(10, dtype=np.int8)[None]


def job(toy: Any, *, sets: Any = ({"mfcc:0": X},), form: Any = "c", **more: Any) -> Job:
    program = toy.program(toy.graph())
    artifact = toy.artifact(program, EmitOptions(const_format=form))
    return Job(artifact=artifact, plan=program.allocated, prefix="toy", input_sets=sets, **more)


def test_inputs_are_every_set_after_the_other(toy: Any) -> None:
    harness = make_harness(job(toy, sets=({"mfcc:0": X}, {"mfcc:0": X[:, ::-1]})))
    assert harness.inputs == X.tobytes() + X[:, ::-1].tobytes()  # row-major, whatever the view
    assert harness.sets == 2 and [port.value for port in harness.outputs] == ["scores"]


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ({}, "input 'mfcc:0' is missing"),
        ({"mfcc:0": X.astype(np.int16)}, "it is int16[1, 10]"),
        ({"mfcc:0": X[0]}, "it is int8[10]"),
        ({"mfcc:0": X[:, :9]}, "it is int8[1, 9]"),
    ],
)
def test_an_input_that_does_not_fit_is_an_error(toy: Any, given_: dict[str, Any], told: str) -> None:
    with pytest.raises(TilewrightError, match="TW6020") as caught:
        make_harness(job(toy, sets=(given_,)))
    assert told in str(caught.value) or told in " ".join(caught.value.details)


def test_values_are_recorded_only_where_they_are_asked_for(toy: Any) -> None:
    assert make_harness(job(toy)).records == ()
    records = make_harness(job(toy, trace=True)).records
    assert [record.value for record in records] == ["biased", "turned", "again", "scores"]
    assert [record.step for record in records] == [0, 1, 2, 3]
    assert {record.size_bytes for record in records} == {10}


def test_constants_that_are_not_linked_in_are_loaded(toy: Any) -> None:
    assert "toy_flash.bin" in make_harness(job(toy, form="bin")).main
    assert "toy_flash.bin" not in make_harness(job(toy)).main


def test_another_main_sees_what_the_hosts_sees_and_its_own_names(toy: Any) -> None:
    text = "${p} ${sets} ${mine} ${len(constants)}"
    assert make_harness(job(toy), text, mine="beside").main == "toy 1 beside 1"


def test_outputs_and_values_come_back_by_set(toy: Any) -> None:
    harness = make_harness(job(toy, sets=({"mfcc:0": X}, {"mfcc:0": X}), trace=True))
    first, second = decode_outputs(harness, bytes(range(20)))
    assert first["scores"].tolist() == [list(range(10))] and second["scores"].tolist() == [list(range(10, 20))]
    one, other = decode_trace(harness, bytes(range(80)))
    assert list(one) == ["biased", "turned", "again", "scores"]
    assert one["turned"].tolist() == [list(range(10, 20))] and other["biased"].tolist() == [list(range(40, 50))]


@pytest.mark.parametrize("size", [0, 9, 11])
def test_another_number_of_bytes_is_no_answer(toy: Any, size: int) -> None:
    with pytest.raises(TilewrightError, match="TW7003"):
        decode_outputs(make_harness(job(toy)), bytes(size))


@settings(max_examples=40)
@given(shape=st.lists(st.integers(1, 4), min_size=0, max_size=4), data=st.data())
def test_a_value_in_any_layout_comes_back_in_the_graphs_order(shape: list[int], data: st.DataObject) -> None:
    layout = tuple(data.draw(st.permutations(range(len(shape)))))
    array = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    stored = np.ascontiguousarray(array.transpose(layout)).tobytes()
    tensor = Tensor(name="v", dtype=DType.F32, shape=tuple(shape))
    (found,) = _decoded([("v", tensor, layout)], stored, 1)
    assert np.array_equal(found["v"], array)


def test_tracing_by_rows_needs_its_header(toy: Any) -> None:
    harness = make_harness(job(toy, trace=True))
    assert (harness.headers, harness.flags) == ({}, ())
    traced = replace(harness, traced=(object(),))  # type: ignore[arg-type]
    assert len(traced.headers) == len(traced.flags) == 1
