"""Knows how much Python does for a piece of work, and takes: the same on every machine, however busy it is."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

Result = TypeVar("Result")


def counted(work: Callable[[], Result]) -> tuple[Result, int]:
    """What `work` returns, and how many functions were called for it, those written in C among them."""
    calls = 0

    def count(_: FrameType, event: str, __: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        result = work()
    finally:
        sys.setprofile(before)
    return result, calls


def peak_bytes(work: Callable[[], Result]) -> tuple[Result, int]:
    """What `work` returns, and how many bytes Python and numpy held for it at once."""
    tracemalloc.start()
    try:
        result = work()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
