"""A table in plain text."""

from __future__ import annotations

import pytest

from tilewright.report.plain_text import Table, json_text, plain

TABLE = Table(rows=[("name", "bytes", "what"), ("a", "1,024", "x"), ("longer", "8", "")], right=(1,), indent=2)


def test_columns_are_two_apart_numbers_flush_right_and_no_line_ends_in_spaces() -> None:
    assert str(TABLE) == "  name    bytes  what\n  a       1,024  x\n  longer      8"


def test_a_text_is_lines_and_tables() -> None:
    assert plain(["head", TABLE, "", "end"]) == f"head\n{TABLE}\n\nend"
    assert plain([]) == ""


def test_widths_are_those_of_the_longest_cells() -> None:
    assert TABLE.widths == [6, 5, 4]


def test_keys_are_sorted_and_a_line_ends_the_text() -> None:
    assert json_text({"b": "ü", "a": [1]}) == '{\n  "a": [\n    1\n  ],\n  "b": "ü"\n}\n'


def test_what_json_has_no_word_for_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text(float("nan"))
