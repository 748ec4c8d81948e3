"""Knows whether the C form of the search was built, and how to hand it an instance.
Does not know what it does: it takes the same steps as `search.PythonSearch`, node by node.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from types import ModuleType

from tilewright_minimalloc.instance import Instance
from tilewright_minimalloc.search import Outcome, Selector


def extension() -> ModuleType | None:
    """The compiled module; None where no compiler was there when the package was built."""
    try:
        from tilewright_minimalloc import _native
    except ImportError:
        return None
    return _native


class NativeSearch:
    """The same as `search.PythonSearch`, some thirty times as fast. ImportError where it was not built."""

    def __init__(self, instance: Instance, capacity: int) -> None:
        from tilewright_minimalloc import _native

        alike: dict[object, int] = {}
        kinds = zip(instance.sizes, instance.aligns, instance.spans, instance.obstacles, strict=True)
        twin = [alike.setdefault(kind, block) for block, kind in enumerate(kinds)]
        ranges = [[edge for pair in obstacle for edge in pair] for obstacle in instance.obstacles]
        self._run = _native.run
        self._search = _native.prepare(
            capacity,
            len(instance.sections),
            _packed(instance.sizes),
            _packed(instance.aligns),
            _packed(_starts(instance.spans, 1)),
            _packed(section for span in instance.spans for section in span),
            _packed(_starts(ranges, 2)),
            _packed(edge for result in ranges for edge in result),
            _packed(twin),
        )

    def run(self, selector: Selector, rank: Sequence[int], limit: int) -> tuple[Outcome, int, list[int]]:
        """See `search.PythonSearch.run`."""
        outcome, nodes, offsets = self._run(self._search, int(selector), _packed(rank), limit)
        result = array("q")
        result.frombytes(offsets)
        return Outcome(outcome), nodes, result.tolist()


def _packed(numbers: Iterable[int]) -> bytes:
    return array("q", numbers).tobytes()


def _starts(rows: Sequence[Sequence[int]], width: int) -> list[int]:
    """Where each row begins once they are joined, and where the last one ends, in items of `width` numbers."""
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) // width)
    return starts
