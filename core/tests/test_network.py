"""What a model becomes before it is bound."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from onnx import TensorProto, helper

from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.network import imported_with, importers_for, rewritten_with, slid_with
from tilewright.testing.cluster import cluster, registry_for


def chain(nodes: int) -> bytes:
    """As many Sigmoid in a row."""
    names = [f"v{number}" for number in range(nodes + 1)]
    made = [helper.make_node("Sigmoid", [a], [b]) for a, b in pairwise(names)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in (names[0], names[-1])]
    model = helper.make_model(helper.make_graph(made, "chain", ends[:1], ends[1:]), ir_version=8)
    return bytes(model.SerializeToString())


@pytest.fixture(name="registry", scope="module")
def _registry() -> Any:
    return registry_for(cluster())


def test_onnx_is_read_by_nobody_else() -> None:
    assert {kind for kind, _ in importers_for(chain(1), Options())} <= {"dialect"}
    assert ("importer", "onnx") in importers_for(b"TFL3 or so", Options())


def test_a_network_without_a_target_is_rewritten(registry: Any) -> None:
    imported = imported_with(chain(3), Options(), registry)
    found = rewritten_with(imported, Options(), registry, None)
    assert len(found.graph.nodes) == 3
    with pytest.raises(TilewrightError, match="has 2 axes"):
        slid_with(found.graph, Options(slide="v0[5]=1"), registry)


def test_more_steps_than_may_be_planned_are_refused(registry: Any) -> None:
    options = Options(limits={"steps": 2})
    with pytest.raises(TilewrightError, match="3 steps, more than the limit of 2") as caught:
        rewritten_with(imported_with(chain(3), options, registry), options, registry, None)
    assert caught.value.code == "TW1203"
