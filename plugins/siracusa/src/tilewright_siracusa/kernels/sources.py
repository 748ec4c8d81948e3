"""Knows where this package's C is kept. Does not know what is in it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def c_text(*names: str) -> str:
    """`runtime/xpulp.h`, and the text of these files beside this module, one after the other."""
    intrinsics = files("tilewright_siracusa") / "runtime" / "xpulp.h"
    return intrinsics.read_text(encoding="ascii") + text_of(*names)


@cache
def text_of(*names: str) -> str:
    """The text of these files beside this module, one after the other."""
    folder = files("tilewright_siracusa") / "kernels"
    return "".join((folder / name).read_text(encoding="ascii") for name in names)
