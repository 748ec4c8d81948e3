"""What patterns decide, what files say of it, and names in files that nothing has."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.config.copied_constants import CopyRule
from tilewright.config.options import Options
from tilewright.config.user_decisions import decided, decides, demand_borders
from tilewright.errors import TilewrightError
from tilewright.ir.plans.decisions import Decisions, Staging
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
