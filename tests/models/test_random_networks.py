"""Networks that nobody has tuned for: every step of every quantised form is what the reference says.

More of them, on any target and runner: `benchmarks/fuzz.py --what networks`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tilewright.config.options import Options


@pytest.fixture(name="script")
def _script(benchmark_script: Callable[[str], Any]) -> Any:
    return benchmark_script("fuzzing.networks")


# two of images, one of a signal, one with attention
@pytest.mark.slow
@pytest.mark.parametrize("seed", [pytest.param(20, marks=pytest.mark.long), 21, 22, 23])
def test_every_form_is_exact(script: Any, seed: int, tmp_path: Path) -> None:
    files = list(script.write_networks(seed, tmp_path))
    assert len(files) == 5
    for file in files:
        text, good = script.judged(file, "generic", "host", Options())
        assert good, f"{file.stem}: {text}"
