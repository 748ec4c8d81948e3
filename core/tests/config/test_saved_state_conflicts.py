"""Options that contradict what a saved state was made with are refused; core/tests/test_deployment.py has the rest."""

from __future__ import annotations

import pytest

from tilewright.config.memory_pools import PoolSpec
from tilewright.config.options import Options
from tilewright.config.saved_state_conflicts import (
    decided_already,
    demand_same_border,
    demand_same_pools,
    demand_same_target,
)
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.tensors.dtypes import DType

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


def test_pools_of_other_names_or_sizes_are_refused() -> None:
    demand_same_pools(SAVED, Options(pools=(PoolSpec(name="ram"),)))
    demand_same_pools(SAVED, Options(pools=(PoolSpec(name="ram", size_bytes=64),)))
    with pytest.raises(TilewrightError, match="TW1223") as caught:
        demand_same_pools(SAVED, Options(pools=(PoolSpec(name="ram", size_bytes=32), PoolSpec(name="fast"))))
    assert caught.value.details == ("--pool ram:32: it has 64", "--pool fast: it has no such memory")


def test_what_a_graph_has_decided_is_named_and_nothing_else() -> None:
    assert not tuple(decided_already(GRAPH, Options(optimize="ram", memory_pins=(("x", "ram"),))))
    (note,) = decided_already(GRAPH, Options(dims={"N": 1}, bind={"x": "0"}, optimize="ram"))
    assert (note.code, note.severity) == ("TW1227", "note")
    assert note.message.endswith("--dim, --bind")
