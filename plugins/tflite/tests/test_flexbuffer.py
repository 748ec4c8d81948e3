"""Options of operators with names of their own are read as they were written, and nothing outside of them ever is."""

from __future__ import annotations

import pytest
from flat_models import flexbuffer
from hypothesis import given
from hypothesis import strategies as st

from tilewright_tflite.flatbuffer import DamagedError
from tilewright_tflite.flexbuffer import numbers_of

# {"clamping": true, "num_channels": 40, "shift": -3} as the library writes it: values of one byte, names before them.
NARROW = b"clamping\0num_channels\0shift\0\x03\x1d\x15\x09\x03\x01\x03\x01\x28\xfd\x68\x04\x04\x06\x24\x01"
NAMES = st.text("abcdefgh_", min_size=1, max_size=20)


@given(st.dictionaries(NAMES, st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_what_is_written_is_read(numbers: dict[str, int]) -> None:
    assert numbers_of(flexbuffer(numbers)) == numbers


def test_numbers_are_as_wide_as_they_need() -> None:
    assert numbers_of(NARROW) == {"clamping": 1, "num_channels": 40, "shift": -3}
    assert numbers_of(b"") == {}


@given(st.integers(0, len(NARROW) - 1), st.integers(0, 255))
def test_a_damaged_map_is_refused_or_another_map(place: int, value: int) -> None:
    damaged = NARROW[:place] + bytes([value]) + NARROW[place + 1 :]
    try:
        assert all(isinstance(each, int) for each in numbers_of(damaged).values())
    except DamagedError as error:
        assert "option" in str(error)


@pytest.mark.parametrize("data", [b"\x01", b"\x03\x04\x01", NARROW[:-1], b"\x00" * 9 + b"\x26\x01"])
def test_what_is_no_map_is_refused(data: bytes) -> None:
    with pytest.raises(DamagedError):
        numbers_of(data)
