"""Knows where this package's C is kept. Does not know what is in it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def c_text(*names: str) -> str:
    """`runtime/xpulp.h`, and the text of these files beside this module, one after the other."""
    package = files("tilewright_siracusa")
    paths = (package / "runtime" / "xpulp.h", *(package / "kernels" / name for name in names))
    return "".join(path.read_text(encoding="ascii") for path in paths)
