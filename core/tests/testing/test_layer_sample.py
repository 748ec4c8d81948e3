"""A layer for tests has a name that C takes."""

from __future__ import annotations

from tilewright.testing.layer_sample import Sample


def test_names_are_identifiers() -> None:
    assert Sample(op="Conv", inputs=()).name == "Conv"
    assert Sample(op="Conv", kind="computed weights", inputs=()).name == "Conv_computed_weights"
