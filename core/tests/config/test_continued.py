"""Options that contradict what a saved state was made with are refused; core/tests/test_deployment.py has the rest."""

from __future__ import annotations

import pytest

from tilewright.config.continued import demand_same_border, demand_same_target
from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Graph, Node, Tensor
from tilewright.ir.platform import Memory, Platform

SAVED = Platform(name="small", memories=(Memory(name="ram", size_bytes=64),))
GRAPH = Graph(
    name="net",
    inputs=("x",),
    outputs=("y",),
    nodes=(Node(name="n", op="N", inputs=("x",), outputs=("y",)),),
    tensors={name: Tensor(name=name, dtype=DType.F32, shape=(1,)) for name in ("x", "y")},
    constants={},
)


def test_what_it_was_made_for_is_not_refused() -> None:
    demand_same_target(SAVED, "small", Options(memory={"ram": 64}))
    demand_same_border(GRAPH, Options())


def test_all_that_contradicts_it_is_said() -> None:
    with pytest.raises(TilewrightError, match="TW1223") as caught:
        demand_same_target(SAVED, "large", Options(memory={"ram": 128}))
    assert len(caught.value.details) == 2


def test_its_inputs_and_outputs_keep_their_types() -> None:
    with pytest.raises(TilewrightError, match="TW1223") as caught:
        demand_same_border(GRAPH, Options(io_type_of={"y": "int8"}))
    assert caught.value.details == ("--io-type: 'y' is f32",)
