"""What a conversion is, in a line."""

from __future__ import annotations

from tilewright_tflite.conversion import Conversion, conversion


def test_a_line_is_the_whole_value() -> None:
    def convert(op: object, net: object) -> None:
        raise NotImplementedError

    assert conversion("ADD", convert, 11) == Conversion(code="ADD", convert=convert, options_type=11, newest=9)
