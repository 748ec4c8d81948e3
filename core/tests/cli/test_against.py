"""Where another runtime computes something else, the first node that is suspicious is named."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.cli.against import _demand_same_forms, demand_agreement, lines
from tilewright.comparison.other_runtime import NodeAgreement
from tilewright.comparison.verdicts import Drift, OutputVerdict
from tilewright.errors import Exit, TilewrightError


def test_an_output_that_is_far_away_fails_and_names_the_first_node() -> None:
    near, far = _agreement("conv", within=False), _agreement("relu", within=False, output=True)
    demand_agreement([_agreement("relu", within=True, output=True)], "onnxruntime", "model.onnx")
    with pytest.raises(TilewrightError) as caught:
        demand_agreement([near, far], "onnxruntime", "model.onnx")
    assert (caught.value.code, caught.value.exit_code) == ("TW6004", Exit.MISMATCH)
    assert caught.value.where == "node 'conv' (Op)"
    assert "the first suspicious node is 'conv' (Op)" in list(lines([near, far], "onnxruntime"))


@pytest.mark.parametrize("other", [np.zeros((4,), np.float32), np.zeros((1, 4), np.float64)], ids=["shape", "type"])
def test_an_output_in_another_form_is_not_left_out_in_silence(other: npt.NDArray[np.generic]) -> None:
    ours = [{"y": np.zeros((1, 4), np.float32), "inner": np.zeros(2, np.float32)}]
    _demand_same_forms(["y"], ours, [{"y": ours[0]["y"], "inner": np.zeros(3, np.float32)}], "onnxruntime")
    with pytest.raises(TilewrightError, match=r"float32\[1, 4\] here") as caught:
        _demand_same_forms(["y"], ours, [{"y": other}], "onnxruntime")
    assert (caught.value.code, caught.value.where) == ("TW6004", "output 'y'")


def _agreement(node: str, *, within: bool, output: bool = False) -> NodeAgreement:
    verdict = OutputVerdict(
        name=node, elements=4, different=2, max_difference=7.0, argmax_equal=True, within=within, allowed=1e-4
    )
    drift = Drift(verdict=verdict, share=0.5, within=within)
    return NodeAgreement(node=node, op="Op", drift=drift, output=output)
