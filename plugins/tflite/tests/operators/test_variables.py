"""Variables: state that the file keeps by itself, and what it begins with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, constant, file_of

from tilewright.errors import TilewrightError
from tilewright.rewrite.shift_states import with_shifted_states

HANDLE = T(name="handle", type="resource")
SCALE: dict[str, Any] = {"scale": (0.5,), "zero": (-2,)}


def network(*, assign: bool = True, first: G | None = None, shape: tuple[int, ...] = (1, 3)) -> bytes:
    """y = variable, then variable = concat(variable[1:], x), in integers."""
    tensors = [
        T(name="x", shape=(1, 1), **SCALE),
        HANDLE,
        T(name="read", shape=shape, **SCALE),
        constant(np.int32([0, 1])),
        constant(np.int32([1, 2])),
        T(name="older", shape=(1, 2), **SCALE),
        T(name="next", shape=(1, 3), **SCALE),
        T(name="y", shape=shape, **SCALE),
        constant(np.int32(shape)),
    ]
    ops = [
        *([Op(code="CALL_ONCE", inputs=(), outputs=(), options={0: ("<i", 1)}, kind=103)] if first else []),
        Op(code="VAR_HANDLE", inputs=(), outputs=(1,), options={0: "box", 1: "ring"}, kind=111),
        Op(code="READ_VARIABLE", inputs=(1,), outputs=(2,)),
        Op(code="RESHAPE", inputs=(2, 8), outputs=(7,)),
        Op(code="SLICE", inputs=(2, 3, 4), outputs=(5,)),
        Op(code="CONCATENATION", inputs=(5, 0), outputs=(6,), options={0: ("<i", 1)}, kind=10),
        *([Op(code="ASSIGN_VARIABLE", inputs=(1, 6), outputs=())] if assign else []),
    ]
    graph = G(tensors=tensors, ops=ops, inputs=(0,), outputs=(7,))
    return file_of(graph, *([first] if first else []))


def begins_with(values: Any, *, op: str = "ASSIGN_VARIABLE") -> G:
    """The graph that runs once."""
    ops = [
        Op(code="VAR_HANDLE", inputs=(), outputs=(0,), options={0: "box", 1: "ring"}, kind=111),
        Op(code=op, inputs=(0, 1), outputs=()),
    ]
    return G(tensors=[HANDLE, constant(np.int8(values), **SCALE)], ops=ops, inputs=(), outputs=())


FRAMES = [{"x": np.int8([[value]])} for value in (7, 8, 9)]


def test_a_variable_is_state_without_a_flag(
    read_in: Callable[[bytes], Any], run_frames: Callable[..., list[dict[str, Any]]]
) -> None:
    data = network()
    found = read_in(data)
    assert [(state.output, state.input) for state in found.states] == [("ring_next", "ring")]
    assert found.graph.inputs == ("x", "ring") and found.graph.outputs == ("y", "ring_next")
    assert [frame["y"].tolist() for frame in run_frames(data, FRAMES)] == [[[0, 0, 0]], [[0, 0, 7]], [[0, 7, 8]]]


def test_what_integers_stand_for_is_known_though_no_operator_says_it(read_in: Callable[[bytes], Any]) -> None:
    graph = read_in(network()).graph
    assert {graph.tensors[name].quantization.scale for name in ("x", "ring", "y", "ring_next")} == {(0.5,)}


def test_it_begins_with_what_the_graph_that_runs_once_assigns(
    run_frames: Callable[..., list[dict[str, Any]]],
) -> None:
    values = run_frames(network(first=begins_with([[1, 2, 3]])), FRAMES)
    assert [frame["y"].tolist() for frame in values] == [[[1, 2, 3]], [[2, 3, 7]], [[3, 7, 8]]]


def ring_behind_which_all_is_read() -> bytes:
    """As layers of streaming networks are exported: all = concat(variable, x), y = all, variable = all[2:]."""
    tensors = [
        T(name="x", shape=(1, 2, 1, 2), **SCALE),
        HANDLE,
        T(name="read", shape=(1, 3, 1, 2), **SCALE),
        T(name="all", shape=(1, 5, 1, 2), **SCALE),
        *(constant(np.int32(values)) for values in ([0, 2, 0, 0], [1, 5, 1, 2], [1, 1, 1, 1])),
        T(name="next", shape=(1, 3, 1, 2), **SCALE),
        constant(np.int32([1, 5, 2])),
        T(name="y", shape=(1, 5, 2), **SCALE),
    ]
    ops = [
        Op(code="VAR_HANDLE", inputs=(), outputs=(1,), options={0: "box", 1: "ring"}, kind=111),
        Op(code="READ_VARIABLE", inputs=(1,), outputs=(2,)),
        Op(code="CONCATENATION", inputs=(2, 0), outputs=(3,), options={0: ("<i", 1)}, kind=10),
        Op(code="STRIDED_SLICE", inputs=(3, 4, 5, 6), outputs=(7,), kind=32),
        Op(code="ASSIGN_VARIABLE", inputs=(1, 7), outputs=()),
        Op(code="RESHAPE", inputs=(3, 8), outputs=(9,)),
    ]
    return file_of(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(9,)))


def test_a_ring_moves_on_as_a_window_does(
    read_in: Callable[[bytes], Any], run_frames: Callable[..., list[dict[str, Any]]]
) -> None:
    data = ring_behind_which_all_is_read()
    found = read_in(data)
    ((following, present),) = [(state.output, state.input) for state in found.states]
    made = with_shifted_states(found.graph, {present: following})
    writers = made.producer()
    assert writers[following].op == "Concat" and writers[writers[following].inputs[0]].inputs == (present,)
    frames = [{"x": np.int8([[[[value, 1]], [[value, 2]]]])} for value in (5, 6, 7)]
    assert run_frames(data, frames)[2]["y"][0, :, 0].tolist() == [5, 6, 6, 7, 7]


def test_one_that_is_never_assigned_is_constant(
    read_in: Callable[[bytes], Any], run_frames: Callable[..., list[dict[str, Any]]]
) -> None:
    data = network(assign=False, first=begins_with([[1, 2, 3]]))
    assert read_in(data).states == () and read_in(data).graph.inputs == ("x",)
    assert run_frames(data, FRAMES)[2]["y"].tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (network(first=begins_with([[1, 2, 3]], op="ADD")), "the graph that runs once has ADD"),
        (network(assign=False, first=begins_with([1, 2])), "its output 'read' is declared [1, 3], not [2]"),
    ],
)
def test_what_is_refused(data: bytes, said: str, read_in: Callable[[bytes], Any]) -> None:
    with pytest.raises(TilewrightError) as caught:
        read_in(data)
    assert said in caught.value.details[0]


def test_a_beginning_is_of_the_states_form(run_frames: Callable[..., list[dict[str, Any]]]) -> None:
    with pytest.raises(TilewrightError, match=r"its beginning is int8\[1, 2\]"):
        run_frames(network(first=begins_with([[1, 2]])), FRAMES)


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"more": {1: ("<b", 127)}}, "TW2101", "its output 'read' is type 127, which tilewright does not hold"),
        ({"shape": (1 << 15, 1 << 15)}, "TW1203", "more bytes of constants"),
    ],
    ids=["type", "size"],
)
def test_a_variable_of_no_type_or_of_no_end_is_refused(
    change: dict[str, Any], code: str, said: str, read_in: Any
) -> None:
    read = T(**{"name": "read", "shape": (1, 3), **SCALE, **change})
    tensors = [T(name="x", shape=(1, 3), **SCALE), HANDLE, read, T(name="y", shape=(1, 3), **SCALE)]
    ops = [
        Op(code="VAR_HANDLE", inputs=(), outputs=(1,), options={1: "ring"}, kind=111),
        Op(code="READ_VARIABLE", inputs=(1,), outputs=(2,)),
        Op(code="ADD", inputs=(0, 2), outputs=(3,), options={}, kind=11),
    ]
    with pytest.raises(TilewrightError) as caught:
        read_in(file_of(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(3,))))
    assert caught.value.code == code and said in f"{caught.value.message} {caught.value.details}"
