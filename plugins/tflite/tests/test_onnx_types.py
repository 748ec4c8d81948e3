"""Types of the file in ONNX."""

from __future__ import annotations

from onnx import TensorProto

from tilewright_tflite.model import HELD
from tilewright_tflite.onnx_types import ONNX_TYPES, declared


def test_every_type_that_is_held_has_one() -> None:
    assert set(ONNX_TYPES) == set(HELD)
    assert {kind: TensorProto.DataType.Value(kind.upper().replace("FLOAT32", "FLOAT").replace("FLOAT64", "DOUBLE"))
            for kind in HELD} == dict(ONNX_TYPES)  # fmt: skip


def test_a_value_is_declared_with_its_shape() -> None:
    made = declared("y", "int16", (2, 3))
    assert made.name == "y" and made.type.tensor_type.elem_type == TensorProto.INT16
    assert [each.dim_value for each in made.type.tensor_type.shape.dim] == [2, 3]
