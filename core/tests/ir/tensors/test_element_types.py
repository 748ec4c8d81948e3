"""ONNX's numbers of element types, beside onnx itself."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.element_types import ELEMENT_TYPES, type_name


def test_every_type_has_the_number_that_onnx_gives_it() -> None:
    assert set(ELEMENT_TYPES.values()) == set(DType)
    for number, dtype in ELEMENT_TYPES.items():
        assert np.dtype(helper.tensor_dtype_to_np_dtype(number)).name == dtype.numpy.name


@pytest.mark.parametrize("number", [0, 8, 14, 15, 17, 18, 19, 20, 21, 22, 23])
def test_names_of_types_that_are_not_held(number: int) -> None:
    if number in TensorProto.DataType.values():
        assert type_name(number) == TensorProto.DataType.Name(number).lower()


def test_any_number_has_a_name() -> None:
    assert (type_name(1), type_name(16), type_name(99)) == ("f32", "bf16", "type number 99")
