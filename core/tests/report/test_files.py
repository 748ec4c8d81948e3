"""JSON is the same on every machine, and floats that JSON does not have are refused."""

from __future__ import annotations

import pytest

from tilewright.report.files import json_text


def test_keys_are_sorted_and_a_line_ends_the_text() -> None:
    assert json_text({"b": "ü", "a": [1]}) == '{\n  "a": [\n    1\n  ],\n  "b": "ü"\n}\n'


def test_what_json_has_no_word_for_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text(float("nan"))
