"""Knows how examples stand at the end of a command's help. Does not know any command: a test types all of them."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """An epilog for click, which breaks no line of it. Each line is what is typed after `tilewright`."""
    return "\n".join(("\b", "Examples:", *(f"  tilewright {line}" for line in lines)))
