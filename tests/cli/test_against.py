"""`validate --against`: another runtime is asked, too, and the first node that it computes otherwise is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tilewright.cli.against import demand_agreement, lines
from tilewright.errors import Exit, TilewrightError
from tilewright.validate.agreement import NodeAgreement
from tilewright.validate.comparison import Drift, OutputVerdict

Run = Callable[..., Any]


@pytest.mark.parametrize("runtime", ["onnxruntime", "onnx-reference"])
def test_a_float_network_agrees(tilewright: Run, float32: Path, runtime: str) -> None:
    if runtime == "onnxruntime":
        pytest.importorskip("onnxruntime")
    finished = tilewright("validate", float32, "-t", "generic", "--sets", "1", "--against", runtime)
    assert finished.code == 0, finished.err
    assert f"against {runtime}: " in finished.out
    assert finished.out.rstrip().endswith("PASS")


def test_every_number_is_in_the_json(tilewright: Run, float32: Path) -> None:
    words = ("validate", float32, "-t", "generic", "--sets", "1", "--against", "onnx-reference", "--json", "-")
    found = tilewright(*words).json()["against"]
    assert found["agrees"]
    assert found["nodes"]
    assert {"node", "op", "distance", "unit", "share_of_spread", "within", "value"} == found["nodes"][0].keys()


def test_integer_ends_have_no_counterpart(tilewright: Run, int8: Path) -> None:
    finished = tilewright("validate", int8, "-t", "generic", "--io-type", "int8", "--against", "onnx-reference")
    assert finished.code == 2
    assert "exclude each other" in finished.err


def test_an_output_that_is_far_away_fails_and_names_the_first_node() -> None:
    near, far = _agreement("conv", within=False), _agreement("relu", within=False, output=True)
    demand_agreement([_agreement("relu", within=True, output=True)], "onnxruntime")
    with pytest.raises(TilewrightError) as caught:
        demand_agreement([near, far], "onnxruntime")
    assert (caught.value.code, caught.value.exit_code) == ("TW6004", Exit.MISMATCH)
    assert caught.value.where == "node 'conv' (Op)"
    assert "the first suspicious node is 'conv' (Op)" in list(lines([near, far], "onnxruntime"))


def _agreement(node: str, *, within: bool, output: bool = False) -> NodeAgreement:
    verdict = OutputVerdict(
        name=node, elements=4, different=2, max_difference=7.0, argmax_equal=True, within=within, allowed=1e-4
    )
    drift = Drift(verdict=verdict, share=0.5, within=within)
    return NodeAgreement(node=node, op="Op", drift=drift, distance=9, unit="ULP", output=output)
