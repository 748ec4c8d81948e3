"""States of plans that nobody has seen: saved after any stage and continued, they give the program of one compilation.

More of them: `benchmarks/fuzz.py --what states`.
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
SEEDS = (4, 18)  # on machines with one memory both are computed row by row


@pytest.mark.slow
@pytest.mark.parametrize("target", MACHINES)
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(20, 40))])
def test_states_are_continued(
    benchmark_script: Callable[[str], Any], seed: int, half: bool, target: str, tmp_path: Path
) -> None:
    file, graphs = tmp_path / "graph.onnx", benchmark_script("fuzzing.float_tiles")
    if not graphs.written(seed, file) or (half and not graphs.halved(file)):
        pytest.skip("nothing was drawn, or nothing that can be of float16")
    script = benchmark_script("fuzzing.states")
    found = list(script.continued(file, target, MACHINES[target], tmp_path / "states"))
    assert len(found) == len(script.STAGES)
    assert {what for what, _ in found} <= {"same", "same but for rows"}, found
    assert seed not in SEEDS or [what for what, _ in found].count("same but for rows") == (target == "generic")
