"""What flags say of inputs and outputs: types for all or for single ones, what is streamed, and what is a constant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.config.graph_io import (
    border_types,
    bound_inputs,
    channels_last,
    demand_io,
    demand_one_memory,
    io_owners,
    streamed_io,
)
from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.platform import Engine, Memory, Platform
from tilewright.ir.tensors.dtypes import DType

TYPES = {"x": DType.F32, "index": DType.I64, "h": DType.F32, "y": DType.F32, "next": DType.F32}
BORDER = Graph(
    name="net",
    inputs=("x", "index", "h"),
    outputs=("y", "next"),
    nodes=(Node(name="n", op="N", inputs=("x", "index", "h"), outputs=("y", "next")),),
    tensors={name: Tensor(name=name, dtype=dtype, shape=(1,)) for name, dtype in TYPES.items()},
    constants={},
)


@pytest.mark.parametrize(
    ("options", "types"),
    [
        ({}, {}),
        ({"io_type": "int8"}, {"x": "i8", "h": "i8", "y": "i8", "next": "i8"}),
        ({"io_type": "int8", "states": ("next:h",)}, {"x": "i8", "y": "i8"}),
        ({"io_type": "int8", "io_type_of": {"x": "uint8", "y": "float"}, "states": ("next:h",)}, {"x": "u8"}),
        ({"io_type_of": {"y": "uint16"}}, {"y": "u16"}),
        ({"io_type_of": {"index": "int16"}}, {"index": "i16"}),
    ],
)
def test_what_each_end_is_to_be(options: dict[str, Any], types: dict[str, str]) -> None:
    assert border_types(BORDER, Options(**options)) == {name: DType(short) for name, short in types.items()}


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if dtype.is_float])
def test_floats_of_every_width_are_asked_for(dtype: DType) -> None:
    """So that a border that cannot be quantised is refused, not passed over."""
    tensors = {**BORDER.tensors, "x": Tensor(name="x", dtype=dtype, shape=(1,))}
    assert border_types(replace(BORDER, tensors=tensors), Options(io_type="int8"))["x"] is DType.I8


@pytest.mark.parametrize(
    ("options", "code"),
    [({"io_type_of": {"z": "int8"}}, "TW1113"), ({"io_type_of": {"h": "int8"}, "states": ("next:h",)}, "TW1120")],
)
def test_what_has_no_border(options: dict[str, Any], code: str) -> None:
    with pytest.raises(TilewrightError, match=code):
        border_types(BORDER, Options(**options))


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


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        (Options(bind={"h": "0"}, states=("y:h",)), "--state y:h"),
        (Options(bind={"h": "0"}, states=("y:h=0.5",)), "--state y:h=0.5"),
        (Options(bind={"h": "0"}, io_of={"h": "user"}), "--io h=user"),
        (Options(bind={"h": "0"}, io_type_of={"h": "int8"}), "--io-type h=int8"),
        (Options(bind={"h": "0"}, io_layouts={"h": "nhwc"}), "--io-layout h=nhwc"),
    ],
)
def test_flags_that_take_it_for_an_input_are_named(options: Options, flag: str) -> None:
    with pytest.raises(TilewrightError, match="TW1226") as refused:
        bound_inputs(options)
    assert refused.value.details == (f"{flag} takes it for an input",)


def test_flags_about_others_are_left_alone() -> None:
    options = Options(bind={"h": "0"}, states=("h:c", "y:high"), io_of={"x": "user"})
    assert bound_inputs(options) == {"h": "0"}


def test_inputs_and_outputs_have_names() -> None:
    demand_io(["x"], ("x", "y"))
    with pytest.raises(TilewrightError, match="'h' is state"):
        demand_io({"h": "user"}, ("x", "y"), states=("h",))
    with pytest.raises(TilewrightError, match="TW1113"):
        demand_io(["z"], ("x", "y"))


def test_layouts_are_of_inputs_and_outputs_that_the_application_sees() -> None:
    assert channels_last(BORDER, Options(io_layouts={"y": "nhwc", "x": "nhwc", "h": "nchw"})) == ("x", "y")
    assert channels_last(BORDER, Options()) == ()
    for asked in (Options(io_layouts={"z": "nhwc"}), Options(io_layouts={"h": "nhwc"}, states=("next:h",))):
        with pytest.raises(TilewrightError) as caught:
            channels_last(BORDER, asked)
        assert caught.value.code == "TW1113"
