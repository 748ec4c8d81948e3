"""Float graphs that nobody has seen in little scratchpad: every step is what the reference computes.

More of them: `benchmarks/fuzz.py --what float_tiles`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tilewright.config.options import Options

MACHINES = {"siracusa": ("l1", {"stacks": "l2"}), "snitch": ("tcdm", {"stacks": "l3"})}
SEEDS = (50018, 50049, 51126)  # a sum of nothing, only empty values, a value in parts and whole


@pytest.mark.slow
@pytest.mark.parametrize("target", MACHINES)
@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(20))])
def test_every_step_is_right(benchmark_script: Callable[[str], Any], seed: int, target: str, tmp_path: Path) -> None:
    (near, settings), script = MACHINES[target], benchmark_script("fuzzing.float_tiles")
    file = tmp_path / "graph.onnx"
    assert script.written(seed, file)
    assert script.outcome(file, target, Options(settings=settings), near, 12000) == ("right", "")
