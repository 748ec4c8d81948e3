"""Flags that nobody has thought of together: right numbers, or a refusal with a next step that is true.

More of them: `benchmarks/fuzz.py --what flags`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tilewright.plugins import load_for


@pytest.mark.parametrize("target", ["generic", "siracusa", "snitch"])
@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 60))])
def test_flags_are_obeyed_or_refused(
    benchmark_script: Callable[[str], Any], tool: Callable[[str], str], target: str, seed: int, tmp_path: Path
) -> None:
    tool("gcc")
    file = tmp_path / "graph.onnx"
    if not benchmark_script("fuzzing.float_tiles").written(seed, file):
        pytest.skip("nothing was drawn")
    script = benchmark_script("fuzzing.flags")
    words = script.command(file, load_for(target=target).platforms[target], random.Random(seed))
    assert script.ended(words)[1] == "", words


def test_what_is_said_to_fit_is_tried(benchmark_script: Callable[[str], Any], tool: Callable[[str], str]) -> None:
    tool("gcc")
    digits = str(Path(__file__).parents[2] / "examples" / "digits" / "digits_int8.onnx")
    script = benchmark_script("fuzzing.flags")
    words = ["validate", digits, "--target", "generic", "--memory", "ram=100", "--on", "host"]
    assert script.ended(words) == ("does_not_fit, TW5001", "")
    assert script.changed(words, ["--memory", "ram=9K", "--io", "user"]) == [
        *(word for word in words if word not in ("--memory", "ram=100")),
        *("--memory", "ram=9K", "--io", "user"),
    ]
    script.promised = lambda error: iter([["--memory", "ram=101"]])
    what, why = script.ended(words)
    assert what == "failed" and "says that --memory ram=101 fits" in why
