"""Bodies see their own values and those around them; their own come first."""

from __future__ import annotations

import pytest

from tilewright.frontend.nodes.scope import Scope
from tilewright.frontend.reading.refusals import InvalidNode

MAIN = Scope(values={"x": "x", "y": None})
INNER = Scope(outer=MAIN, prefix="loop/0/", values={"x": "loop/0/x"})


def test_values_around_a_body_are_seen() -> None:
    assert MAIN.main
    assert not INNER.main
    assert INNER.find("x") == "loop/0/x"
    assert INNER.has("y")
    assert INNER.find("y") is None
    assert not INNER.has("z")


def test_outputs_must_be_written() -> None:
    assert INNER.results(["x", "y"]) == ["loop/0/x", None]
    with pytest.raises(InvalidNode, match="'z'"):
        INNER.results(["z"])
