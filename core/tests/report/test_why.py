"""What is said of one step: who takes it and at what cost, who refuses, why this one, and where its values are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engine_plans import branches

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.plugins.registry import Provenance
from tilewright.report.plain_text import plain
from tilewright.report.why import why, why_parts
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch

PORTABLE = portable_kernels()["portable.neg"]
FAST = replace(PORTABLE, name="acme.neg", target=CLUSTER.name, cycles=lambda tile: 100.0)
CHOOSY = replace(PORTABLE, name="acme.choosy", target=CLUSTER.name, match=lambda site: "only on Sundays")


def graph() -> Graph:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (30, 70))
    turned = sketch.node("Neg", (x,), name="turn")
    return sketch.finish(sketch.node("Add", (turned, sketch.constant(np.ones(70, np.float32))), name="shift"))


def deployment(*kernels: Kernel, options: Options | None = None) -> Deployment:
    registry = registry_for(CLUSTER)
    acme = Provenance(distribution="acme", version="1.2")
    registry = replace(
        registry,
        kernels={**registry.kernels, **{kernel.name: kernel for kernel in kernels}},
        provenance={**registry.provenance, **{("kernel", kernel.name): acme for kernel in kernels}},
    )
    plan = Deployment(b"", CLUSTER.name, options or Options(name="net"), registry)
    plan._given[Graph] = graph()
    return plan


def test_candidates_have_costs_and_packages_and_refusals_have_reasons() -> None:
    facts = why(deployment(FAST, CHOOSY), "turn", "")
    assert [(each["kernel"], each["chosen"]) for each in facts["candidates"]] == [
        ("acme.neg", True), ("portable.neg", False),
    ]  # fmt: skip
    assert (facts["candidates"][0]["cycles"], facts["candidates"][0]["package"]) == (100.0, "acme 1.2")
    assert facts["refusals"] == [{"kernel": "acme.choosy", "package": "acme 1.2", "reason": "only on Sundays"}]
    assert facts["reason"] == "the cheapest that takes it"
    text = plain(why_parts(facts))
    assert "computed by 'acme.neg' on engine 'cluster': the cheapest that takes it" in text
    assert "acme.choosy  acme 1.2  only on Sundays" in text


def test_a_kernel_without_rivals_is_said_to_have_none() -> None:
    assert why(deployment(), "turn", "")["reason"] == "no other kernel takes it"


def test_places_are_those_of_the_plan() -> None:
    plan = deployment()
    facts = why(plan, "turn", "")
    placed = {each["name"]: each for each in facts["places"]}
    assert {each["role"] for each in facts["places"]} >= {"input", "output", "tile"}
    for name, place in plan.allocated.placements.items():
        if name in placed and placed[name]["role"] == "tile":
            assert (placed[name]["memory"], placed[name]["offset_bytes"]) == (place.memory, place.offset_bytes)
    assert placed["turn:0"]["bytes"] == 30 * 70 * 4
    assert [hop["inner"] for hop in facts["group"]["hops"]] == ["l1"]


def test_a_constant_of_a_step_is_among_its_places() -> None:
    roles = {each["role"] for each in why(deployment(), "shift", "")["places"]}
    assert "constant" in roles


def test_a_step_has_a_number_in_the_table_of_layers() -> None:
    plan = deployment()
    names = [step.name for step in plan.scheduled.steps]
    assert [why(plan, str(number), "")["step"] for number in range(len(names))] == names
    with pytest.raises(TilewrightError, match="TW8017"):
        why(plan, str(len(names)), "")


@pytest.mark.parametrize(("name", "similar"), [("trun", "did you mean 'turn'?"), ("nothing like it", "")])
def test_a_step_that_is_not_there_is_an_error(name: str, similar: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        why(deployment(), name, "type this")
    assert (caught.value.code, caught.value.exit_code) == ("TW8017", Exit.USAGE)
    assert caught.value.details == ((similar,) if similar else ())
    assert caught.value.fix == ("type this     lists all steps",)


def test_a_step_beside_others_says_so() -> None:
    facts = why(branches(), "job", "")
    assert (facts["group"]["behind"], round(facts["group"]["hidden_cycles"])) == ("two", 913)
    said = "its engine is waited for behind step 'two', beside the steps until there: 913 cycles are hidden"
    assert said in plain(why_parts(facts))
    assert why(branches(), "one", "")["group"]["behind"] == ""
