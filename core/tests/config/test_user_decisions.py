"""What patterns decide, what files say of it, and names in files that nothing has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.config.memory_rules import CopyRule
from tilewright.config.options import Options
from tilewright.config.user_decisions import decided, decides, demand_borders, demand_named
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.plans.decisions import Decisions, Staging
from tilewright.ir.tensors.layout import row_major
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import one_step

BOUND = one_step("Gemm", [np.zeros((8, 20), np.float32), np.zeros((20, 16), np.float32)], cluster(4096), constants=(1,))
BOUND = BOUND.bound
(NODE,) = BOUND.graph.nodes
(WEIGHTS,) = BOUND.constants
VALUE, OUTPUT = NODE.inputs[0], NODE.outputs[0]


def test_options_without_a_name_decide_about_none() -> None:
    assert not decides(Options())
    assert decides(Options(memory_pins=((VALUE, "l2"),)))
    assert decides(Options(pins=Decisions(memories={VALUE: "l2"})))


def test_files_overrule_patterns() -> None:
    options = Options(memory_pins=((VALUE, "l1"), (OUTPUT, "l1")), pins=Decisions(memories={VALUE: "l2"}))
    assert decided(options.pins, options, BOUND, None).memories == {VALUE: "l2", OUTPUT: "l1"}


def test_constants_are_copied_where_a_pattern_says_so() -> None:
    options = Options(constant_copies=(CopyRule(pattern="*", memory="l2"),))
    assert [one.memory for one in decided(Decisions(), options, BOUND, None).staged.values()] == ["l2"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (Options(memory_pins=(("lost", "l1"),)), "TW1116"),
        (Options(arithmetic=(("*", "tflm"), ("lost*", "onnx"))), "TW1116"),
        (Options(pins=Decisions(memories={"lost": "l1"})), "TW1119"),
        (Options(pins=Decisions(staged={WEIGHTS: Staging(memory="lost")})), "TW1103"),
        (Options(pins=Decisions(staged={WEIGHTS: Staging(memory="flash")})), "TW5033"),
    ],
)
def test_what_cannot_be_is_refused(options: Options, code: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        decided(options.pins, options, BOUND, None)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (Options(io_of={"lost": "user"}), "TW1113"),
        (Options(pins=Decisions(io={"lost": "user"})), "TW1113"),
        (Options(pins=Decisions(io={"h": "user"})), "TW1113"),
        (Options(pins=Decisions(state={"x": "y"})), "TW1114"),
    ],
)
def test_inputs_and_outputs_are_those_there_are(options: Options, code: str) -> None:
    demand_borders(Options(io_of={"x": "user"}, pins=Decisions(io={"y": "user"}, state={"h": "n"})), "xy", {"h": "n"})
    with pytest.raises(TilewrightError) as caught:
        demand_borders(options, ("x", "y"), {"h": "new"})
    assert caught.value.code == code


COPY = Staging(memory="l1")


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
