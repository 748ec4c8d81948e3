"""Cases of onnx's own suite as C: none is wrong, none breaks anything, and what passed once still does.

A sample runs with the other tests; CONFORMANCE=whole runs every case.
"""

from __future__ import annotations

import os
from pathlib import Path

import onnx
import pytest

from conformance.batch import PASS, REFUSED, run_batch
from conformance.cases import all_cases
from conformance.passing import ONNX_VERSION, counts, passing

SAMPLE, BATCHES = 150, 6
WHOLE = os.environ.get("CONFORMANCE") == "whole"
pytestmark = [
    pytest.mark.skipif(onnx.__version__ != ONNX_VERSION, reason=f"the list is of onnx {ONNX_VERSION}"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def chosen(batch: int) -> list[str]:
    """Every tenth case or so, passing or not, spread over all operators; each batch has its share."""
    names = sorted(all_cases())
    step = 1 if WHOLE else len(names) // SAMPLE
    return names[::step][batch::BATCHES]


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_cases(batch: int, tool, tmp_path: Path) -> None:
    tool("cc")
    cases, listed = all_cases(), set(passing())
    outcomes = run_batch([cases[name] for name in chosen(batch)], tmp_path)
    bad = {name: each.reason for name, each in outcomes.items() if each.status not in (PASS, REFUSED)}
    lost = {name: each.reason for name, each in outcomes.items() if name in listed and each.status != PASS}
    assert (bad, lost) == ({}, {})


def test_the_suite_is_the_one_that_was_counted() -> None:
    counted = counts(all_cases(), ())
    assert {tier: count for tier, (_, count) in counted.items()} == {1: 442, 2: 479, 3: 492, 4: 181}
    assert set(passing()) <= set(all_cases())
