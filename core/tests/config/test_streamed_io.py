"""`--io push` and `--io pull`: what passes in rows, and what that may not be said of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.config.options import Options
from tilewright.config.streamed_io import demand_one_memory, io_owners, streamed_io
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.platform import Engine, Memory, Platform
from tilewright.ir.tensors.dtypes import DType

NAMES = ("x", "h", "y", "next")
GRAPH = Graph(
    name="net",
    inputs=("x", "h"),
    outputs=("y", "next"),
    nodes=(Node(name="n", op="N", inputs=("x", "h"), outputs=("y", "next")),),
    tensors={name: Tensor(name=name, dtype=DType.F32, shape=(4,)) for name in NAMES},
    constants={},
)
ALONE = Platform(name="alone", memories=(Memory(name="ram", size_bytes=None),))
TEAM = replace(ALONE, engines=(Engine(name="cpu", cores=4),))


STATE = ("next:h",)


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ({}, {}),
        ({"io_inputs": "user", "io_outputs": "user"}, {}),
        ({"io_of": {"x": "push"}}, {"x": "push"}),
        ({"io_inputs": "push"}, {"x": "push", "h": "push"}),
        ({"io_inputs": "push", "states": STATE}, {"x": "push"}),
        ({"io_inputs": "push", "io_of": {"h": "user"}}, {"x": "push"}),
        ({"io_outputs": "pull"}, {"y": "pull", "next": "pull"}),
        ({"io_outputs": "pull", "states": STATE}, {"y": "pull"}),
        ({"io_of": {"y": "pull"}}, {"y": "pull"}),
        ({"io_inputs": "push", "io_of": {"h": "pool", "y": "pull"}}, {"x": "push", "y": "pull"}),
    ],
)
def test_what_passes_in_rows(options: dict[str, Any], ends: dict[str, str]) -> None:
    assert streamed_io(Options(**options), GRAPH) == ends


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"io_of": {"y": "push"}}, "no input"),
        ({"io_of": {"h": "push"}, "states": STATE}, "state"),
        ({"io_of": {"x": "pull"}}, "no output"),
        ({"io_of": {"next": "pull"}, "states": STATE}, "state"),
    ],
)
def test_what_cannot_pass(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason) as caught:
        streamed_io(Options(**options), GRAPH)
    assert caught.value.code == "TW1122" and caught.value.fix


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(TilewrightError, match="no input or output") as caught:
        streamed_io(Options(io_of={"z": "push"}), GRAPH)
    assert caught.value.code == "TW1113"


def test_an_input_that_nothing_computes_with_cannot_arrive() -> None:
    idle = replace(GRAPH, nodes=(), outputs=("x",))
    with pytest.raises(TilewrightError, match="nothing reads it"):
        streamed_io(Options(io_of={"x": "push"}), idle)


@pytest.mark.parametrize(("name", "whose"), [("x", "push"), ("y", "pull")])
def test_what_has_no_elements_cannot_pass(name: str, whose: str) -> None:
    empty = replace(GRAPH, tensors={**GRAPH.tensors, name: Tensor(name=name, dtype=DType.F32, shape=(4, 0))})
    with pytest.raises(TilewrightError, match=f"'{name}' has no elements") as caught:
        streamed_io(Options(io_of={name: whose}), empty)
    assert caught.value.code == "TW1122" and caught.value.fix == (f"--io {name}=pool",)


def test_an_output_that_nothing_computes_cannot_be_taken() -> None:
    idle = replace(GRAPH, nodes=(), outputs=("x",))
    with pytest.raises(TilewrightError, match="nothing computes it"):
        streamed_io(Options(io_of={"x": "pull"}), idle)


def test_rows_are_computed_on_one_memory_by_one_core() -> None:
    demand_one_memory(ALONE, "push")
    with pytest.raises(TilewrightError, match="several cores") as caught:
        demand_one_memory(TEAM, "pull")
    assert caught.value.code == "TW1122"


def test_outputs_stay_in_the_plan() -> None:
    ends = io_owners(Options(io_inputs="push", io_of={"next": "user"}), ("x",), ("y", "next"))
    assert ends == {"x": "push", "y": "pool", "next": "user"}


def test_inputs_stay_in_the_plan_where_outputs_are_taken() -> None:
    assert io_owners(Options(io_outputs="pull"), ("x",), ("y",)) == {"x": "pool", "y": "pull"}
