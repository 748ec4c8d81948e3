"""Scripts of `benchmarks/`, of which a few examples are tests."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(name="benchmark_script")
def _benchmark_script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """The module of that name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module
