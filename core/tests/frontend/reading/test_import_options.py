"""Limits of what a file may ask for: they fit machines with little memory, and their messages say how to raise them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.errors import Exit, TilewrightError
from tilewright.frontend.reading.import_options import LIMITS, limits_with
from tilewright.ir.graphs.model_formats import Limits


def _of(shape):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    return {"nodes": [helper.make_node("Relu", ["x"], ["y"])], "inputs": [x]}


def test_a_word_raises_its_limit_and_no_other() -> None:
    assert limits_with({}) == Limits()
    assert limits_with({"tensor": 5}) == Limits(tensor_bytes=5)
    assert limits_with({"folded": 5}) == Limits(fold_bytes=5, fold_total_bytes=5)
    assert {name for names in LIMITS.values() for name in names} < set(Limits.__dataclass_fields__)


def test_a_word_that_is_no_limit() -> None:
    with pytest.raises(TilewrightError) as caught:
        limits_with({"tensors": 5})
    assert caught.value.code == "TW1101"
    assert caught.value.exit_code is Exit.USAGE
    assert "did you mean 'tensor'" in str(caught.value)


def test_a_tensor_for_servers_is_refused_with_the_flag_that_takes_it(refuses, loads, model) -> None:
    network = model(**_of([1500, 1 << 18]))
    assert "--limit tensor=1500M" in refuses(network, "TW1206")
    assert loads(network, limits=limits_with({"tensor": 1500 << 20})).graph.nodes


@pytest.mark.parametrize(
    ("limits", "flag"),
    [
        (Limits(constant_bytes=15), "--limit constants=1M"),
        (Limits(file_bytes=10), "--limit file=1M"),
        (Limits(nodes=0), "--limit nodes=2"),
        (Limits(initializers=0), "--limit initializers=1"),
    ],
)
def test_messages_name_the_flag(refuses, model, limits: Limits, flag: str) -> None:
    weights = numpy_helper.from_array(np.ones((1, 4), np.float32), "weights")
    network = model([helper.make_node("Add", ["x", "weights"], ["y"])], constants=[weights])
    assert flag in refuses(network, "TW1203", limits=limits)
