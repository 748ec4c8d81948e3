"""QLookup: every byte selects its entry, whatever the types; what else it takes is refused. `test_qelementwise` runs
its C beside that of QAdd and QMul."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.operators.plain_calls import plain_call
from tilewright.errors import TilewrightError
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qlookup import QLOOKUP, QLOOKUP_PORTABLE
from tilewright.testing.operator_sites import refusal, site_of

TABLE = np.random.default_rng(0).permutation(256)


@pytest.mark.parametrize("x_type", [DType.I8, DType.U8])
@pytest.mark.parametrize("to", [DType.I8, DType.U8])
def test_the_smallest_value_selects_the_first_entry(x_type: DType, to: DType) -> None:
    x = np.arange(*x_type.limits).astype(x_type.numpy).reshape(5, 51)
    table = (TABLE + to.limits[0]).astype(to.numpy)
    site = site_of(QLOOKUP, [x, table])
    (found,) = QLOOKUP.reference(site, [x, table])
    assert (site.output.dtype, site.output.shape) == (to, (5, 51))
    assert found.dtype == to.numpy and found.ravel().tolist() == table[:255].tolist()


def test_tables_of_another_length() -> None:
    with pytest.raises(TilewrightError, match="T must have 256 elements"):
        site_of(QLOOKUP, [np.zeros(4, np.int8), np.zeros(255, np.int8)])


def test_the_kernel_takes_bytes() -> None:
    wide, byte = np.zeros(256, np.int16), np.zeros(256, np.int8)
    assert refusal(QLOOKUP_PORTABLE, site_of(QLOOKUP, [byte, byte])) is None
    assert "found i16" in str(refusal(QLOOKUP_PORTABLE, site_of(QLOOKUP, [wide, byte])))
    assert "found i16" in str(refusal(QLOOKUP_PORTABLE, site_of(QLOOKUP, [byte, wide])))


@pytest.mark.parametrize(("x_type", "position"), [(DType.I8, "x + 128"), (DType.U8, "x")])
def test_the_table_is_no_element(x_type: DType, position: str) -> None:
    """It goes to the C function whole, after the operands that are walked."""
    call = plain_call({"X": (x_type, (2, 3)), "T": (DType.U8, (256,)), "Y": (DType.U8, (2, 3))})
    values = QLOOKUP_PORTABLE.values(call)
    assert values["expression"] == f"t[{position}]"
    assert (values["arguments"], values["scalars"]) == ("6, x, 1, y, 1, t", [("t", "const uint8_t *")])
