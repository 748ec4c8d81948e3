"""A few of the collection of quantised models: each integer is what the declared arithmetic says, and none is made of
floats that were made of integers. All 312: `benchmarks/fuzz.py --what quantised --seeds 0:312`.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kit.qdq_networks import between, qdq_network
from tilewright.deployment import Deployment


@pytest.fixture(name="script")
def _script(benchmark_script: Callable[[str], Any]) -> Any:
    pytest.importorskip("onnxruntime")
    return benchmark_script("fuzzing.quantised")


def test_there_are_312_and_each_kind_in_each_form(script: Any) -> None:
    assert len(script.KINDS) * len(script.FORMS) == 312
    assert len({(form.name, form.arithmetic) for form in script.FORMS}) == len(script.FORMS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed",
    [40, 52, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 57, 68, 164, 198, 234, 283, 300))],
)
def test_integers_are_exact_and_stay_integers(script: Any, seed: int, tmp_path: Path) -> None:
    asked = Namespace(target="generic", on="host", memory=[], settings=[])
    (of_kind, _) = script.outcomes([seed], asked, tmp_path)
    assert (of_kind.ended, of_kind.wrong, of_kind.note) == ("right", "", "")
    assert of_kind.sums["of integers"] >= 4


@pytest.mark.parametrize(
    ("name", "floats"), [("Div", ("DequantizeLinear", "DequantizeLinear", "Div", "QuantizeLinear")), ("U-Net", ())]
)
def test_floats_between_integers_are_those(name: str, floats: tuple[str, ...]) -> None:
    graph = Deployment(qdq_network(name)[0], "generic").rewritten.graph
    assert tuple(sorted(between(graph))) == floats
