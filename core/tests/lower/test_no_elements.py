"""Operands without elements on several cores: nothing is written of an output that has none, and a reduction of no
elements is what it begins with.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import cluster
from tilewright.testing.layer_programs import Case, run_on_twin
from tilewright.testing.layer_sample import Sample

NONE_EACH, NO_ROWS = np.zeros((3, 4, 0), np.float32), np.zeros((0, 6), np.float32)
LAYERS = {
    "sums of nothing": Sample(op="ReduceSum", inputs=(NONE_EACH,), attributes={"axes": (2,), "keepdims": 0}),
    "products of nothing": Sample(op="ReduceProd", inputs=(NONE_EACH,), attributes={"axes": (2,), "keepdims": 1}),
    "a product over nothing": Sample(op="MatMul", inputs=(np.zeros((5, 0), np.float32), NO_ROWS)),
    "no outputs": Sample(op="Clip", inputs=(NO_ROWS,), attributes={"min": 0.0}),
    "no outputs of a product": Sample(op="MatMul", inputs=(NO_ROWS, np.ones((6, 3), np.float32)), constants=(1,)),
}


@pytest.mark.parametrize("names", [*((name,) for name in LAYERS), tuple(LAYERS)], ids=", ".join)
def test_every_output_is_what_the_reference_says(names: tuple[str, ...], tmp_path: Path) -> None:
    """In any order of copies and of cores, built with warnings as errors."""
    cases = [
        Case(layer=LAYERS[name], room_bytes=4096, buffering="single", number=number)
        for number, name in enumerate(names)
    ]
    assert run_on_twin(cases, cluster(), tmp_path, TwinRunner(seeds=(1, 2))) == []
