"""Knows for which steps segments in stripes are looked for: where those that are there lead to no less memory.
Does not know what is in a segment (`segments`), nor which ones are chosen (`line_buffer_search`).

A plan of fewer bytes is a way from the last step to the first over segments that need no more. Where that ends, and
only there, a segment in stripes may lead on; and then there may be a way of fewer bytes still.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright.tile.line_buffers.segments import STEPS_AT_FIRST, Segment, segments_with_edges
from tilewright.tile.line_buffers.signatures import StepSignatures

Segments = Sequence[tuple[Segment, ...]]  # by last step


def with_striped_segments(alike: StepSignatures, segments: Segments) -> list[tuple[Segment, ...]]:
    """The segments, and those in stripes whose edges are kept that may lead to less memory."""
    every, looked = list(segments), set[int]()
    while True:
        most = _least_bytes(every) - 1
        wanted = [step for step in _ends(every, most) if step not in looked]
        if not wanted:
            return every
        for step in wanted:
            every[step] = (*every[step], *segments_with_edges(alike, step, most))
        looked.update(wanted)


def _least_bytes(segments: Segments) -> int:
    """Of the division whose largest segment is the smallest."""
    least = [0]
    for ending in segments:
        least.append(min(max(least[segment.first], segment.size_bytes) for segment in ending))
    return least[-1]


def _ends(segments: Segments, most: int) -> Iterator[int]:
    """The steps behind which everything can be in segments of so many bytes at most, and before which not."""
    reached = [False] * len(segments) + [True]
    for step in reversed(range(len(segments))):
        if reached[step + 1]:
            for segment in segments[step]:
                reached[segment.first] |= segment.size_bytes <= most
    for step in range(len(segments)):
        if reached[step + 1] and not all(reached[max(0, step + 1 - STEPS_AT_FIRST) : step + 1]):
            yield step
