"""The decisions of plans that nobody has seen: pinned, they give the program again; parts are kept or refused.

More of them: `benchmarks/fuzz.py --what pins`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tilewright.config.options import Options

MACHINES = {
    "generic": Options(optimize="ram"),
    "siracusa": Options(settings={"stacks": "l2"}, memory={"l1": 12000}),
    "snitch": Options(settings={"stacks": "l3"}, memory={"tcdm": 12000}),
}
SEEDS = (329, 3046)  # offsets that leave no room, on snitch; rows of steps that another order has apart


@pytest.mark.slow
@pytest.mark.parametrize("target", MACHINES)
@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(20))])
def test_plans_are_given_again(benchmark_script: Callable[[str], Any], seed: int, target: str, tmp_path: Path) -> None:
    file = tmp_path / "graph.onnx"
    assert benchmark_script("fuzzing.float_tiles").written(seed, file)
    script = benchmark_script("fuzzing.pins")
    found = list(script.kept(file, target, MACHINES[target], tmp_path / "state", seed))
    assert found[0] == ("given again", "")
    assert len(found) == 1 + script.PARTS
    assert not any(why for _, why in found)
