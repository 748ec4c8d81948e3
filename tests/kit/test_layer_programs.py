"""Layers in one program: names of their own, tiles for the room of each, and what is wrong is told by name."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from layer_programs import Case, layer_space, least_room, network, run_on_twin, tiles_of, two_hops
from tilewright.errors import TilewrightError
from tilewright.ir.programs.runner import RunResult
from tilewright.testing.cluster import CLUSTER, RUNTIME_BYTES
from tilewright.testing.operator_sites import Sample

LAYER = Sample(op="Neg", inputs=(np.arange(600, dtype=np.float32).reshape(20, 30),))
PRODUCT = Sample(op="MatMul", inputs=(np.ones((9, 40), np.float32), np.ones((40, 6), np.float32)), constants=(1,))


def case(layer: Sample = LAYER, room: int = 1024, number: int = 0) -> Case:
    return Case(layer=layer, room_bytes=room, buffering="single", number=number)


def test_the_same_layer_twice_has_other_names() -> None:
    graph, given = network((case(), case(number=1), case(PRODUCT, number=2)))
    assert [node.name for node in graph.nodes] == ["neg_0", "neg_1", "matmul_2"]
    assert sorted(given) == ["matmul_2_in0", "neg_0_in0", "neg_1_in0"] == sorted(graph.inputs)
    assert list(graph.constants) == ["matmul_2_in1"]


@pytest.mark.parametrize("layer", [LAYER, PRODUCT], ids=lambda layer: layer.op)
def test_the_least_room_is_enough_and_less_is_not(layer: Sample) -> None:
    room = least_room(layer, CLUSTER)
    plan = tiles_of(case(layer, room), CLUSTER)
    (pool,) = (pool for pool in plan.pools if pool.memory == CLUSTER.inner)
    assert pool.used_bytes <= room == pool.limit_bytes
    with pytest.raises(TilewrightError):
        tiles_of(case(layer, max(room // 2, 8)), CLUSTER)


def test_tiles_are_smaller_where_there_is_less_room() -> None:
    small, large = (tiles_of(case(room=room), CLUSTER).tiled.groups[0].region.hops[0].nest for room in (512, 8192))
    assert small and not large  # 4,800 bytes come and go


def test_a_memory_further_out_makes_two_hops() -> None:
    platform = two_hops(4096, 65536)
    assert platform.backing == "l3" and platform.memory("l1").size_bytes == 4096
    hops = tiles_of(case(room=4096 - RUNTIME_BYTES), platform).tiled.groups[0].region.hops
    assert [(hop.outer, hop.inner) for hop in hops] == [("l3", "l2"), ("l2", "l1")]


def test_reductions_are_cut_where_that_is_asked_for() -> None:
    assert layer_space(PRODUCT, CLUSTER, split=True).sums is not None
    assert layer_space(LAYER, CLUSTER, split=True).sums is None


def test_what_is_wrong_and_what_is_missing_is_told_by_name(tmp_path: Path) -> None:
    x = LAYER.inputs[0]
    assert x is not None
    answers: list[dict[str, Any]] = [
        {"neg_0_out0": -x, "neg_1_out0": -x},
        {"neg_0_out0": -x, "neg_1_out0": x},
        {"neg_1_out0": -x},
    ]
    found = []
    for values in answers:
        runner: Any = SimpleNamespace(run=lambda job, folder, values=values: RunResult(outputs=({},), values=(values,)))
        found.append(run_on_twin((case(), case(number=1)), CLUSTER, tmp_path, runner))
    assert found == [[], ["neg_1"], ["neg_0"]]
