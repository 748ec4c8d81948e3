"""Networks that nobody has tuned for: every step of every quantised form is what the reference says.

More of them, on any target and runner: `benchmarks/random_networks.py`.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tilewright.config.options import Options

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "random_networks.py"


@pytest.fixture(scope="module", name="script")
def _script() -> ModuleType:
    found = importlib.util.spec_from_file_location("random_networks", SCRIPT)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


# two of images, one of a signal, one with attention
@pytest.mark.parametrize("seed", [pytest.param(20, marks=pytest.mark.long), 21, 22, 23])
def test_every_form_is_exact(script: ModuleType, seed: int, tmp_path: Path) -> None:
    files = list(script.write_networks(seed, tmp_path))
    assert len(files) == 5
    for file in files:
        text, good = script.judged(file, "generic", "host", Options())
        assert good, f"{file.stem}: {text}"
