"""Changed .tflite files are compiled or refused: a few here, ten thousand in the nightly run."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tilewright.errors import Exit


@pytest.fixture(name="mutants")
def _mutants(benchmark_script: Callable[[str], Any]) -> Any:
    return benchmark_script("fuzzing.mutants")


@pytest.mark.slow
def test_none_is_anything_but_compiled_or_refused(mutants: Any, tmp_path: Path) -> None:
    outcomes = list(mutants.outcomes(range(1, 20), Namespace(models=[]), tmp_path))
    assert [outcome.wrong for outcome in outcomes] == [""] * 19
    assert {outcome.ended for outcome in outcomes} >= {Exit.OK.name.lower(), Exit.MODEL.name.lower()}


def test_what_is_neither_is_noticed(mutants: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object) -> object:
        raise IndexError

    monkeypatch.setattr(mutants, "load", broken)
    (outcome,) = mutants.outcomes([1], Namespace(models=[]), tmp_path)
    assert outcome.wrong == "neither compiled nor refused"
