"""Names in a file of decisions that nothing in the network has are refused, with what is spelled alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.config.decision_names import demand_named
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.plans.decisions import Decisions, Staging
from tilewright.ir.plans.stages import Bound
from tilewright.ir.tensors.layout import row_major
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import one_step

COPY = Staging(memory="l1")


def product() -> Bound:
    """Y = A times constant weights B."""
    inputs = [np.zeros((8, 20), np.float32), np.zeros((20, 16), np.float32)]
    return one_step("Gemm", inputs, cluster(4096), constants=(1,)).bound


BOUND = product()
(NODE,) = BOUND.graph.nodes
(WEIGHTS,) = BOUND.constants


@pytest.mark.parametrize(
    "decided",
    [
        {"kernels": {NODE.name: "any"}},
        {"engines": {NODE.name: "any"}},
        {"layouts": {NODE.outputs[0]: row_major(2)}},
        {"in_place": {NODE.outputs[0]: NODE.inputs[0]}},
        {"in_place": {NODE.outputs[0]: ""}},
        {"staged": {WEIGHTS: COPY}},
        {"memories": {NODE.outputs[0]: "l1", WEIGHTS: "flash", f"{NODE.name}.scratch": "l1"}},
        {"memories": {f"{NODE.name}.A@l1#0": "l1"}},
        {"order": ("refused", "elsewhere"), "offsets": {"refused": 0}, "groups": (("refused", "elsewhere"),)},
    ],
    ids=str,
)
def test_what_is_there_may_be_decided_about(decided: dict[str, Any]) -> None:
    demand_named(Decisions(**decided), BOUND)


@pytest.mark.parametrize(
    ("decided", "name", "kind"),
    [
        ({"kernels": {"lost": "any"}}, "lost", "node"),
        ({"engines": {"lost": "any"}}, "lost", "node"),
        ({"layouts": {WEIGHTS: row_major(2)}}, WEIGHTS, "value"),
        ({"in_place": {"lost": ""}}, "lost", "value"),
        ({"in_place": {NODE.outputs[0]: "lost"}}, "lost", "value"),
        ({"staged": {NODE.outputs[0]: COPY}}, NODE.outputs[0], "constant"),
        ({"memories": {NODE.outputs[0]: "l1", "lost": "l1"}}, "lost", "value or constant"),
        ({"memories": {f"{NODE.name}.lost": "l1"}}, f"{NODE.name}.lost", "value or constant"),
        ({"memories": {f"{NODE.name}.A@lost#0": "l1"}}, f"{NODE.name}.A@lost#0", "value or constant"),
        ({"memories": {"lost.scratch": "l1"}}, "lost.scratch", "value or constant"),
    ],
    ids=str,
)
def test_what_is_not_there_is_named_with_its_key(decided: dict[str, Any], name: str, kind: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        demand_named(Decisions(**decided), BOUND)
    (key,) = decided
    assert (caught.value.code, caught.value.exit_code) == ("TW1119", Exit.USAGE)
    assert (
        caught.value.message == f"the pinned decisions name '{name}' under `{key}`, and the network has no such {kind}"
    )


def test_what_is_spelled_alike_is_shown() -> None:
    with pytest.raises(TilewrightError) as caught:
        demand_named(Decisions(kernels={NODE.name + "x": "any"}), BOUND)
    assert caught.value.details == (f"did you mean '{NODE.name}'?",)
