"""Operands without elements on several cores: nothing is written of an output that has none, and a reduction of no
elements is what it begins with.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from layer_programs import Case, run_on_twin, two_hops
from tilewright.ir.machines.platform import Platform
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import cluster
from tilewright.testing.operator_sites import Sample

NONE_EACH, NO_ROWS = np.zeros((3, 4, 0), np.float32), np.zeros((0, 6), np.float32)
LAYERS = {
    "sums of nothing": Sample(op="ReduceSum", inputs=(NONE_EACH,), attributes={"axes": (2,), "keepdims": 0}),
    "products of nothing": Sample(op="ReduceProd", inputs=(NONE_EACH,), attributes={"axes": (2,), "keepdims": 1}),
    "a product over nothing": Sample(op="MatMul", inputs=(np.zeros((5, 0), np.float32), NO_ROWS)),
    "no outputs": Sample(op="Clip", inputs=(NO_ROWS,), attributes={"min": 0.0}),
    "no outputs of a product": Sample(op="MatMul", inputs=(NO_ROWS, np.ones((6, 3), np.float32)), constants=(1,)),
}


def out_of_reach() -> Platform:
    """Values live where cores cannot read them: what has elements crosses two hops."""
    far = two_hops(1 << 16, 1 << 16)
    engine = far.engines[0].name
    memories = (replace(one, access={engine: "none"}) if one.name == "l3" else one for one in far.memories)
    return replace(far, memories=tuple(memories))


@pytest.mark.slow
@pytest.mark.parametrize("platform", [cluster(), out_of_reach()], ids=["near", "out of reach"])
@pytest.mark.parametrize("names", [*((name,) for name in LAYERS), tuple(LAYERS)], ids=", ".join)
def test_every_output_is_what_the_reference_says(names: tuple[str, ...], platform: Platform, tmp_path: Path) -> None:
    """In any order of copies and of cores, built with warnings as errors."""
    cases = [
        Case(layer=LAYERS[name], room_bytes=4096, buffering="single", number=number)
        for number, name in enumerate(names)
    ]
    assert run_on_twin(cases, platform, tmp_path, TwinRunner(seeds=(1, 2))) == []
