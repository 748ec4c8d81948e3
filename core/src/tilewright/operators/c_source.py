"""Knows where the portable C of the operator families is kept. Does not know what is in it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def c_source(name: str) -> str:
    """The text of a `.c` or `.h` file beside the operator families."""
    return (files("tilewright.operators") / name).read_text(encoding="utf-8")
