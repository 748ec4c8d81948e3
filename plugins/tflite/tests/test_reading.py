"""Files become frozen values within limits; what cannot be is damaged, or over a limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, constant, file_of, flatbuffer

from tilewright.api.importer import Limits
from tilewright_tflite.flatbuffer import BudgetError, DamagedError
from tilewright_tflite.reading import is_tflite, read

X = T(name="x", shape=(1, 4), scale=(0.5, 1.0, 2.0, 4.0), zero=(0, 1, 2, 3), axis=1)
GRAPH = G(
    tensors=[X, constant(np.float32([1, 2])), T(name="y", type="float32", variable=True)],
    ops=[
        Op(code="ADD", inputs=(0, 1, -1), outputs=(2,), options={0: ("<b", 3)}, kind=11, version=2),
        Op(code="GELU", inputs=(0,), outputs=(2,)),
        Op(code="AcmeWindow", inputs=(0,), outputs=(2,)),
    ],
    inputs=(0,),
    outputs=(2,),
)


def test_everything_that_is_used_is_read() -> None:
    (graph,) = read(file_of(GRAPH), Limits()).graphs
    x, c, y = graph.tensors
    assert (x.name, x.type, x.shape, x.axis, x.fault) == ("x", "int8", (1, 4), 1, "")
    assert x.scales.tolist() == [0.5, 1, 2, 4] and x.zero_points.tolist() == [0, 1, 2, 3] and not x.constant
    assert c.data is not None and c.data.view(np.float32).tolist() == [1, 2] and y.variable and not c.variable
    add, gelu, own = graph.operators
    assert (add.code, add.version, add.inputs, add.outputs, add.options_type) == ("ADD", 2, (0, 1, -1), (2,), 11)
    assert add.options.byte(0) == 3 and gelu.options.byte(0, 7) == 7 and gelu.options_type == 0
    assert (gelu.code, own.code, own.custom, gelu.custom) == ("GELU", "AcmeWindow", True, False)


def test_other_graphs_are_there_too() -> None:
    assert len(read(file_of(GRAPH, GRAPH), Limits()).graphs) == 2


def test_a_file_begins_with_its_mark() -> None:
    assert is_tflite(file_of(GRAPH)) and not is_tflite(b"TFL3") and not is_tflite(b"")
    with pytest.raises(DamagedError, match="TFL3"):
        read(flatbuffer({}, b"TFL2"), Limits())


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (flatbuffer({0: ("<I", 4)}), "it is of version 4"),
        (flatbuffer({0: ("<I", 3)}), "it has 0 graphs"),
        (file_of(replace(GRAPH, inputs=(-1,))), "a tensor is named"),
        (file_of(replace(GRAPH, outputs=(3,))), "a tensor is named"),
        (file_of(replace(GRAPH, ops=[Op(code="ADD", inputs=(-2,), outputs=(0,))])), "a tensor is named"),
        (file_of(replace(GRAPH, tensors=[replace(X, shape=(-1, 4)), *GRAPH.tensors[1:]])), "a negative extent"),
        (
            file_of(replace(GRAPH, tensors=[replace(X, more={2: ("<I", 9)}), *GRAPH.tensors[1:]])),
            "is in buffer 9, of 2",
        ),
        (file_of(GRAPH, f4=[{1: ("<Q", 1 << 40), 2: ("<Q", 8)}] * 2), "are outside of its"),
    ],
)
def test_what_cannot_be_is_damaged(data: bytes, said: str) -> None:
    with pytest.raises(DamagedError, match=said):
        read(data, Limits())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scale": (1.0, 2.0), "zero": (0, 0)}, "has 2 scales along axis 1"),
        ({"axis": 2}, "has 4 scales along axis 2"),
        ({"zero": (0, 1)}, "has 2 zero points, and 4 scales"),
        ({"scale": (1.0, float("nan"), 1.0, 1.0)}, "has a scale that is negative, or no number"),
        ({"scale": (1.0, -1.0, 1.0, 1.0)}, "has a scale that is negative, or no number"),
        ({"zero": (0, 0, 0, 128)}, "has a zero point that is no int8"),
        ({"more": {6: {}}}, "is stored sparsely"),
        ({"more": {4: {4: ("<B", 1)}}}, "is quantised in a way of its own"),
    ],
)
def test_tensors_that_no_operator_may_use(changes: dict[str, Any], said: str) -> None:
    data = file_of(replace(GRAPH, tensors=[replace(X, **changes), *GRAPH.tensors[1:]]))
    assert read(data, Limits()).graphs[0].tensors[0].fault.startswith(said)


def test_a_list_of_scales_is_along_the_only_axis_there_is() -> None:
    """Old converters wrote the axis of a layer's weights to its bias, too."""
    bias = T(name="bias", type="int32", shape=(4,), scale=(1.0, 2.0, 3.0, 4.0), zero=(0,) * 4, axis=3)
    found = read(file_of(replace(GRAPH, tensors=[bias, *GRAPH.tensors[1:]])), Limits()).graphs[0].tensors[0]
    assert (found.axis, found.fault) == (0, "")


@pytest.mark.parametrize(
    ("graph", "limits", "said"),
    [
        (GRAPH, Limits(nodes=2), "tables"),
        (
            replace(GRAPH, ops=[Op(code="ADD_N", inputs=[0] * 200, outputs=(2,))]),
            Limits(nodes=19),
            "numbers",
        ),
        (GRAPH, Limits(rank=1), "rank"),
        (replace(GRAPH, tensors=[replace(X, name="n" * 99), *GRAPH.tensors[1:]]), Limits(name_length=98), "name"),
        (replace(GRAPH, ops=[Op(code="ADD_N", inputs=[0] * 1025, outputs=(2,))]), Limits(), "operands"),
    ],
)
def test_what_is_too_much(graph: G, limits: Limits, said: str) -> None:
    with pytest.raises(BudgetError, match=f"^{said}$"):
        read(file_of(graph), limits)


def test_contents_of_large_files_stand_behind_all_tables() -> None:
    data = file_of(GRAPH)
    placed = file_of(GRAPH, f4=[{}, {1: ("<Q", len(data) + 64), 2: ("<Q", 8)}])
    whole = placed + b"\0" * (len(data) + 64 - len(placed)) + np.float32([3, 4]).tobytes()
    found = read(whole, Limits()).graphs[0].tensors[1].data
    assert found is not None and found.view(np.float32).tolist() == [3, 4]
