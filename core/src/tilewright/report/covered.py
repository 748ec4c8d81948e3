"""Knows how many bytes ranges of addresses cover, each byte once: an output may lie over what its step reads.
Does not know whose they are.
"""

from __future__ import annotations

from collections.abc import Iterable


def covered_bytes(ranges: Iterable[tuple[int, int]]) -> int:
    """Bytes in any of the half-open ranges; none begins below 0."""
    total = end = 0
    for low, high in sorted(ranges):
        total += max(0, high - max(low, end))
        end = max(end, high)
    return total
