"""Knows where this package's C is kept. Does not know what is in it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def c_text(*names: str) -> str:
    """The text of these files beside this module, one after the other."""
    folder = files("tilewright_cortexm") / "kernels"
    return "".join((folder / name).read_text(encoding="ascii") for name in names)
