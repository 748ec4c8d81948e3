"""QLookup: tables of bytes, and lines between the places of a table for 16 bits; C against the reference."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from core.tests.operators.plain_calls import plain_call
from tilewright.errors import TilewrightError
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qlookup import QLOOKUP, QLOOKUP_PORTABLE, STEP, TABLE_OF_WORDS
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.operator_sites import byte_array, refusal, site_of

Array = npt.NDArray[np.generic]
TABLE = np.random.default_rng(0).permutation(256)
WORDS = (DType.I16, DType.U16)


@pytest.mark.parametrize("x_type", [DType.I8, DType.U8])
@pytest.mark.parametrize("to", [DType.I8, DType.U8])
def test_the_smallest_value_selects_the_first_entry(x_type: DType, to: DType) -> None:
    x = np.arange(*x_type.limits).astype(x_type.numpy).reshape(5, 51)
    table = (TABLE + to.limits[0]).astype(to.numpy)
    site = site_of(QLOOKUP, [x, table])
    (found,) = QLOOKUP.reference(site, [x, table])
    assert (site.output.dtype, site.output.shape) == (to, (5, 51))
    assert found.dtype == to.numpy and found.ravel().tolist() == table[:255].tolist()


@pytest.mark.parametrize("x_type", WORDS)
@pytest.mark.parametrize("to", [*WORDS, DType.I8])
def test_between_two_places_lies_a_line(x_type: DType, to: DType) -> None:
    rng = np.random.default_rng(1)
    table = byte_array(rng, to, (TABLE_OF_WORDS,), True)
    x = np.arange(x_type.limits[0], x_type.limits[1] + 1).astype(x_type.numpy)
    (found,) = QLOOKUP.reference(site_of(QLOOKUP, [x, table]), [x, table])
    ends = [int(end) for end in table]
    for place in range(0, 2**16, 37):
        at, part = divmod(place, STEP)
        line = ends[at] + Fraction((ends[at + 1] - ends[at]) * part, STEP)
        assert abs(int(found[place]) - line) <= Fraction(1, 2)
    assert found[::STEP].tolist() == ends[:-1]


@pytest.mark.slow
@pytest.mark.parametrize("build", [("gcc", *UBSAN), ("clang", *STRICT, "-O2")], ids=lambda build: build[0])
@pytest.mark.parametrize("x_type", [DType.I8, DType.U8, *WORDS])
@pytest.mark.parametrize("to", [DType.U8, *WORDS])
def test_c_is_the_reference(
    x_type: DType, to: DType, build: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", build[0])
    rng = np.random.default_rng(2)
    places = TABLE_OF_WORDS if x_type in WORDS else 256
    x = byte_array(rng, x_type, (3, 700), False)
    x[0, :2] = x_type.limits
    inputs: list[Array | None] = [x, byte_array(rng, to, (places,), True)]
    site = site_of(QLOOKUP, inputs, {}, (1,))
    (found,) = run_kernel(QLOOKUP, QLOOKUP_PORTABLE, site, inputs, folder=tmp_path, flags=build[1:])
    assert np.array_equal(found, QLOOKUP.reference(site, inputs)[0])


@pytest.mark.parametrize(("kind", "places"), [(np.int8, 256), (np.uint16, 513)])
def test_tables_of_another_length(kind: type, places: int) -> None:
    with pytest.raises(TilewrightError, match=f"T must have {places} elements"):
        site_of(QLOOKUP, [np.zeros(4, kind), np.zeros(255, np.int8)])


def test_the_kernel_takes_8_and_16_bits() -> None:
    byte, word, long = np.zeros(256, np.int8), np.zeros(513, np.int16), np.zeros(513, np.int32)
    for x, table in ((byte, byte), (word, word), (byte, word[:256]), (word, word)):
        assert refusal(QLOOKUP_PORTABLE, site_of(QLOOKUP, [x, table])) is None
    assert "found i32" in str(refusal(QLOOKUP_PORTABLE, site_of(QLOOKUP, [long, word])))


def test_a_result_takes_the_place_of_a_value_as_large() -> None:
    byte, word = np.zeros(256, np.int8), np.zeros(256, np.int16)
    assert QLOOKUP_PORTABLE.in_place(site_of(QLOOKUP, [byte, byte])) == (("X", "Y"),)
    assert QLOOKUP_PORTABLE.in_place(site_of(QLOOKUP, [byte, word])) == ()


@pytest.mark.parametrize(("x_type", "position"), [(DType.I8, "x + 128"), (DType.U8, "x")])
def test_the_table_is_no_element(x_type: DType, position: str) -> None:
    """It goes to the C function whole, after the operands that are walked."""
    call = plain_call({"X": (x_type, (2, 3)), "T": (DType.U8, (256,)), "Y": (DType.U8, (2, 3))})
    values = QLOOKUP_PORTABLE.values(call)
    assert values["expression"] == f"t[{position}]"
    assert (values["arguments"], values["scalars"]) == ("6, x, 1, y, 1, t", [("t", "const uint8_t *")])
