"""Element types: sizes, ranges and names agree with numpy's, in both directions."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType


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
