"""The numbers of operators, against those that the tests' own writer has."""

from __future__ import annotations

from flat_models import CODES as WRITTEN

from tilewright_tflite.codes import CODES


def test_numbers_are_those_of_the_format() -> None:
    assert {name: CODES[number] for name, number in WRITTEN.items()} == {name: name for name in WRITTEN}
    assert CODES[161] == "RIGHT_SHIFT" and 127 not in CODES and len(set(CODES.values())) == len(CODES) == 209
