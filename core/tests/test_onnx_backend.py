"""The interface for backends says which device there is, and passes on what is no missing operator."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from tilewright.errors import Exit, TilewrightError
from tilewright.onnx_backend import prepare, supports_device


def test_only_one_kind_of_device() -> None:
    assert supports_device("CPU")
    assert not supports_device("CUDA")


def test_a_target_that_is_not_there_is_no_skipped_case() -> None:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "net", ends[:1], ends[1:])
    with pytest.raises(TilewrightError) as caught:
        prepare(helper.make_model(graph), target="nowhere")
    assert caught.value.exit_code is Exit.PLUGIN
