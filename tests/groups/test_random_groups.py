"""Networks that nobody has seen, in one program: what shares memory or runs at the same time gives what it gives alone.

More of them: `benchmarks/fuzz.py --what groups`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 40))])
def test_every_network_of_a_group_gives_what_it_gives_alone(
    benchmark_script: Callable[[str], Any], tool: Callable[[str], str], seed: int, tmp_path: Path
) -> None:
    tool("gcc")
    script = benchmark_script("fuzzing.groups")
    group = script.drawn(seed)
    if group is None:
        pytest.skip("references leave too many of its graphs open")
    assert len(group.networks) > 1
    assert script.outcome(group, seed, tmp_path) == ("right", "")


def test_some_of_them_run_at_the_same_time(benchmark_script: Callable[[str], Any]) -> None:
    script = benchmark_script("fuzzing.groups")
    group = script.drawn(0)
    assert group.concurrent and "pthread_create" in script.program(group, 0)
