"""Element types: sizes, ranges and names agree with numpy's, in both directions."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from tilewright.ir.tensors.dtypes import ELEMENT_TYPES, DType, type_name


@pytest.mark.parametrize("dtype", DType)
def test_numpy_and_back(dtype: DType) -> None:
    assert DType.from_numpy(dtype.numpy) is dtype
    assert dtype.numpy.itemsize == dtype.size_bytes


@pytest.mark.parametrize("dtype", [one for one in DType if one.is_integer])
def test_limits_are_those_of_numpy(dtype: DType) -> None:
    known = np.iinfo(dtype.numpy)
    assert dtype.limits == (known.min, known.max)
    assert dtype.c_type == f"{dtype.numpy.name}_t"


def test_booleans_are_bytes_and_no_integers() -> None:
    assert DType.BOOL.limits == (0, 1)
    assert not DType.BOOL.is_integer and not DType.BOOL.is_float
    assert (DType.BOOL.c_type, DType.F32.c_type, DType.F64.c_type) == ("uint8_t", "float", "double")


def test_what_there_is_no_type_for_is_refused() -> None:
    with pytest.raises(ValueError, match="complex64"):
        DType.from_numpy(np.dtype(np.complex64))


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
