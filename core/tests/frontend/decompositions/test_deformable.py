"""DeformConv samples its input where it says: with distances of 0 it is a Conv, else what onnx's reference makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tilewright.comparison.reference import run
from tilewright.errors import Exit

FORMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "padded": {"pads": [1, 1, 1, 1]},
    "strided": {"strides": [2, 1], "pads": [1, 0, 1, 0]},
    "dilated": {"dilations": [2, 2], "pads": [2, 2, 2, 2]},
    "grouped": {"group": 2},
    "moved in groups": {"offset_group": 2},
}
AREAS = {"plain": (5, 4), "padded": (7, 6), "strided": (4, 4), "dilated": (7, 6), "grouped": (5, 4)}


def _network(model: Any, form: str, *, masked: bool, still: bool) -> tuple[Any, dict[str, Any]]:
    drawn = np.random.default_rng(3)
    attributes, area = FORMS[form], AREAS.get(form, (5, 4))
    groups, moved = attributes.get("group", 1), attributes.get("offset_group", 1)
    shapes = {"x": (1, 4, 7, 6), "o": (1, moved * 18, *area), "m": (1, moved * 9, *area)}
    values = {name: drawn.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    values["o"] *= np.float32(0 if still else 1)
    weight = drawn.normal(size=(2, 4 // groups, 3, 3)).astype(np.float32)
    bias = drawn.normal(size=2).astype(np.float32)
    names = ["x", "w", "o", "b", *(["m"] if masked else [])]
    node = helper.make_node("DeformConv", names, ["y"], kernel_shape=[3, 3], **attributes)
    given = [name for name in ("x", "o", "m") if name in names]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes[name]) for name in given]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, *area])
    constants = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")]
    made = model([node], inputs=inputs, outputs=[output], constants=constants, opset=19)
    return made, {name: values[name] for name in given}


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_it_is_what_onnx_says(form: str, masked: bool, loads: Any, model: Any, vocabulary: Any) -> None:
    made, inputs = _network(model, form, masked=masked, still=False)
    (expected,) = ReferenceEvaluator(made).run(None, inputs)
    got = run(loads(made).graph, inputs, vocabulary)["y"]
    assert np.allclose(got, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("form", ["plain", "padded", "dilated"])
def test_without_distances_it_is_a_conv(form: str, loads: Any, model: Any, vocabulary: Any) -> None:
    made, inputs = _network(model, form, masked=False, still=True)
    got = run(loads(made).graph, inputs, vocabulary)["y"]
    made.graph.node[0].CopyFrom(helper.make_node("Conv", ["x", "w", "b"], ["y"], kernel_shape=[3, 3], **FORMS[form]))
    del made.graph.input[1:]
    (expected,) = ReferenceEvaluator(made).run(None, {"x": inputs["x"]})
    assert np.allclose(got, expected, rtol=1e-4, atol=1e-4)


def test_distances_that_do_not_fit_are_refused(refuses: Any, model: Any) -> None:
    made, _ = _network(model, "plain", masked=False, still=True)
    made.graph.input[1].type.tensor_type.shape.dim[1].dim_value = 16
    refuses(made, "TW2101", Exit.UNSUPPORTED)
