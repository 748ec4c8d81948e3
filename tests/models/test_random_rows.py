"""Networks that nobody has seen, row by row in the least memory: exact, and never in more memory than layer by layer.

More of them, on any target: `benchmarks/random_rows.py`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tilewright.config.options import Options
from tilewright.plugins import load_for

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "random_rows.py"


@pytest.fixture(scope="module", name="script")
def _script() -> ModuleType:
    found = importlib.util.spec_from_file_location("random_rows", SCRIPT)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["cnn", "mobile", "sequence", "branched", "bottleneck"])
def test_rows_are_exact_and_take_no_more_memory(script: ModuleType, kind: str, seed: int) -> None:
    found = script.judged(kind, seed, "generic", Options(optimize="ram"), load_for(target="generic"))
    assert found.faults == ()


@pytest.mark.parametrize(
    "kind", ["mobile", "bottleneck", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("cnn", "branched"))]
)
def test_columns_that_are_computed_again_are_exact(script: ModuleType, kind: str) -> None:
    found = script.judged(kind, 1, "generic", Options(optimize="ram", recompute=2.0), load_for(target="generic"))
    assert found.faults == ()


@pytest.mark.parametrize("seed", [0, pytest.param(4, marks=pytest.mark.long)])
def test_columns_that_pass_from_stripe_to_stripe_are_exact(script: ModuleType, seed: int) -> None:
    options = Options(optimize="ram", io_inputs="user")
    found = script.judged("bottleneck", seed, "generic", options, load_for(target="generic"))
    assert found.faults == ()
    assert found.steps_with_edges


def test_columns_that_pass_from_stripe_to_stripe_are_exact_on_cortex_m(
    script: ModuleType, tool: Callable[[str], str]
) -> None:
    for one in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(one)
    options = Options(optimize="ram", io_inputs="user")
    found = script.judged("bottleneck", 3, "cortex-m0plus", options, load_for(target="cortex-m0plus"))
    assert found.faults == ()
    assert found.steps_with_edges


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55"])
def test_rows_are_exact_on_cortex_m(script: ModuleType, target: str, tool: Callable[[str], str]) -> None:
    for one in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(one)
    found = script.judged("branched", 3, target, Options(optimize="balanced"), load_for(target=target))
    assert found.faults == ()
    assert found.steps_by_rows
