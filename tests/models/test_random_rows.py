"""Networks that nobody has seen, row by row in the least memory: exact, and never in more memory than layer by layer.

More of them, on any target: `benchmarks/fuzz.py --what rows`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tilewright.config.options import Options
from tilewright.plugins import load_for


@pytest.fixture(name="script")
def _script(benchmark_script: Callable[[str], Any]) -> Any:
    return benchmark_script("fuzzing.rows")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["cnn", "mobile", "sequence", "branched", "bottleneck"])
def test_rows_are_exact_and_take_no_more_memory(script: Any, kind: str, seed: int) -> None:
    found = script.judged(kind, seed, "generic", Options(optimize="ram"), load_for(target="generic"))
    assert found.faults == ()


@pytest.mark.parametrize(
    "kind", ["mobile", "bottleneck", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("cnn", "branched"))]
)
def test_columns_that_are_computed_again_are_exact(script: Any, kind: str) -> None:
    found = script.judged(kind, 1, "generic", Options(optimize="ram", recompute=2.0), load_for(target="generic"))
    assert found.faults == ()


@pytest.mark.parametrize("seed", [0, pytest.param(4, marks=pytest.mark.long)])
def test_columns_that_pass_from_stripe_to_stripe_are_exact(script: Any, seed: int) -> None:
    options = Options(optimize="ram", io_inputs="user")
    found = script.judged("bottleneck", seed, "generic", options, load_for(target="generic"))
    assert found.faults == ()
    assert found.steps_with_edges


@pytest.mark.slow
def test_columns_that_pass_from_stripe_to_stripe_are_exact_on_cortex_m(script: Any, tool: Callable[[str], str]) -> None:
    for one in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(one)
    options = Options(optimize="ram", io_inputs="user")
    found = script.judged("bottleneck", 3, "cortex-m0plus", options, load_for(target="cortex-m0plus"))
    assert found.faults == ()
    assert found.steps_with_edges


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55"])
def test_rows_are_exact_on_cortex_m(script: Any, target: str, tool: Callable[[str], str]) -> None:
    for one in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(one)
    found = script.judged("branched", 3, target, Options(optimize="balanced"), load_for(target=target))
    assert found.faults == ()
    assert found.steps_by_rows
