"""What stages pass on: which values show the same bytes, where a step is computed, what comes and goes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Hop, Region, Tiles
from tilewright.ir.plans.stages import Buffer, Group, Placement, Scheduled, Tiled, comes_and_goes
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch


def scheduled() -> Scheduled:
    """x (2 x 6) -> Neg -> Reshape (3 x 4) -> Reshape (12) -> Neg; beside it a Slice of the first."""
    sketch = Sketch(operators=vocabulary())
    first = sketch.node("Neg", [sketch.input("x", DType.F32, (2, 6))], name="first")
    again = sketch.node(
        "Reshape", [sketch.node("Reshape", [first], {"shape": (3, 4)}, "view")], {"shape": (12,)}, "flat"
    )
    half = sketch.node("Slice", [first], {"starts": (0, 0), "steps": (1, 1), "shape": (1, 6)}, "half")
    graph = sketch.finish(sketch.node("Neg", [again], name="last"), sketch.node("Neg", [half], name="other"))
    bound = bind(graph, CLUSTER, vocabulary(), portable_kernels(), Decisions())
    return schedule(bound, vocabulary(), Decisions())


def test_views_are_values_with_all_bytes_of_another_and_name_the_first_of_a_chain() -> None:
    found = scheduled()
    assert found.views == {"view:0": "first:0", "flat:0": "first:0"}  # half of the bytes is no view of all
    assert found.with_views(["first:0"]) == {"first:0", "view:0", "flat:0"}
    assert found.with_views(["last:0"]) == {"last:0"} and found.with_views([]) == frozenset()
    assert {step.name for step in found.steps} >= {"first", "last", "other"}
    assert not {"view", "flat"} & {step.name for step in found.steps}


def test_a_site_has_the_analysis_of_its_kernel() -> None:
    found = scheduled().bound
    node = next(node for node in found.graph.nodes if node.name == "last")
    site = found.site(node)
    assert site.node == node and [tensor.name for tensor in site.inputs if tensor] == ["flat:0"]
    assert site.analysis == found.layers["last"].site.analysis


def test_steps_that_are_computed_together_are_in_the_function_of_the_last() -> None:
    found = scheduled()
    names = [step.name for step in found.steps]
    alone = [Group(region=Region(steps=(name,))) for name in names]
    tiled = Tiled(scheduled=found, groups=tuple(alone), buffers=())
    assert tiled.executed == {name: at for at, name in enumerate(names)}
    pair = Group(region=Region(steps=tuple(names[:2]), schedule=Tiles(hops=(Hop(outer="l2", inner="l1"),))))
    both = Tiled(scheduled=found, groups=(pair, *alone[2:]), buffers=())
    assert pair.name == names[1] and both.executed[names[0]] == both.executed[names[1]] == 1


@pytest.mark.parametrize(
    ("kind", "memory", "shared"),
    [("tile", "l1", True), ("tile", "l2", True), ("activation", "l1", True), ("activation", "l2", False),
     ("scratch", "l1", True), ("state", "l1", False), ("resident", "l1", False)],
)  # fmt: skip
def test_what_shares_bytes_of_the_scratchpad_over_time(kind: str, memory: str, shared: bool) -> None:
    buffer = Buffer(name="b", kind=kind, size_bytes=4, align=1, first=0, last=0)  # type: ignore[arg-type]
    assert comes_and_goes(buffer, Placement(memory=memory, offset_bytes=0), CLUSTER) is shared


def test_bindings_compare_without_their_arrays() -> None:
    bound = scheduled().bound
    assert replace(bound, constants={"c": np.zeros(2)}) == replace(bound, constants={"c": np.ones(2)})
