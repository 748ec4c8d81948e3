"""Knows the number of every byte of every value: those of computed values are new, those of views their source's.
Does not know steps, nor where values are stored.

What a view holds is worked out by the operator's own reference, on the numbers of its inputs instead of data. One
digit of all numbers at a time, a byte for each element, so that a view needs no more memory than its value.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tilewright.check.plans.byte_runs import Run, Runs, joined
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.layout import Layout

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Digits = npt.NDArray[np.uint8]

_WIDEST = 8  # bytes of the largest element: a value's first number is a multiple, so elements can be counted
_PART = 1 << 18  # numbers that are turned into digits at a time


class ValueNumbers:
    """The bytes of every value that is an input or computed, in the order in which they are stored."""

    def __init__(self, graph: Graph, layouts: Mapping[str, Layout]) -> None:
        self.graph, self.layouts = graph, layouts
        self._stored: dict[str, Runs] = {}
        self._names: list[str] = []  # of values with numbers of their own
        self._firsts: list[int] = []  # their first numbers, ascending
        self._following = _WIDEST

    def give(self, executed: set[str], operators: Mapping[str, Operator]) -> Iterator[str]:
        """Number everything. A node that is not executed may only move elements: a sentence for each that does more."""
        for name in self.graph.inputs:
            self._fresh(name)
        for node in self.graph.nodes:
            if node.name in executed:
                moved: Sequence[Runs | None] = (None,) * len(node.outputs)
            else:
                moved = self._moved(node, operators)
            for name, runs in zip(node.outputs, moved, strict=True):
                if runs is None:
                    self._fresh(name)
                else:
                    self._stored[name] = runs
                if runs is None and node.name not in executed:
                    yield f"node '{node.name}' is not executed, but does more than move elements"

    def stored(self, name: str) -> Runs:
        """The bytes of a value in its layout."""
        return self._stored[name]

    def owner(self, number: int) -> str:
        """Whose byte it is."""
        if number == 0:
            return "nothing, or scratch"
        return f"part of '{self._names[bisect_right(self._firsts, number) - 1]}'"

    def _fresh(self, name: str) -> None:
        size = self.graph.tensors[name].size_bytes
        self._names.append(name)
        self._firsts.append(self._following)
        self._stored[name] = joined([(size, self._following)])
        self._following += align_up(size, _WIDEST)

    def _moved(self, node: Node, operators: Mapping[str, Operator]) -> list[Runs | None]:
        """What each output is made of; None where the node does more than move elements."""
        tensors = [self.graph.tensors[name] for name in node.outputs]
        places = range((self._following.bit_length() + 7) // 8)
        outputs = [_Beginnings.of(tensor.elements) for tensor in tensors]
        for take in (_Beginnings.look, _Beginnings.count):
            for place in places:
                self._take(node, place, operators, [partial(take, beginnings) for beginnings in outputs])
        return [beginnings.runs(tensor.dtype.size_bytes) for beginnings, tensor in zip(outputs, tensors, strict=True)]

    def _take(
        self, node: Node, place: int, operators: Mapping[str, Operator], takers: Sequence[Callable[..., None]]
    ) -> None:
        """Hand each output's digits on; none of them stays here, because together they are as large as the values."""
        for take, digits in zip(takers, self._digits(node, place, operators), strict=True):
            take(digits, place)

    def _digits(self, node: Node, place: int, operators: Mapping[str, Operator]) -> list[Digits | None]:
        """One digit of the numbers of each output, in the order in which they are stored; None where it is no digit."""
        site = self.graph.site(node)
        inputs = [
            self._logical(name, place) if name in self._stored else site.constants.get(name) for name in node.inputs
        ]
        results = operators[node.op].reference(site, inputs)
        fitting = [
            result.dtype == "uint8" and result.shape == tensor.shape
            for result, tensor in zip(results, site.outputs, strict=True)
        ]
        return [
            result.astype("uint8", copy=False).transpose(self.layouts[name]).reshape(-1) if fits else None
            for name, result, fits in zip(node.outputs, results, fitting, strict=True)
        ]

    def _logical(self, name: str, place: int) -> Digits:
        """Digit `place` of the number of each element of a value, in its shape."""
        tensor, layout = self.graph.tensors[name], self.layouts[name]
        flat = _digits(self._stored[name], tensor, place)
        inverse = sorted(range(len(layout)), key=layout.__getitem__)
        return flat.reshape([tensor.shape[axis] for axis in layout]).transpose(inverse)


def _digits(runs: Runs, tensor: Tensor, place: int) -> Digits:
    """One digit of the number of each element, in the order in which they are stored."""
    import numpy as np

    size, at = tensor.dtype.size_bytes, 0
    result = np.zeros(tensor.elements, np.uint8)
    for count, first in _in_parts(runs):
        numbers = np.arange(first // size, (first + count) // size)
        result[at : at + numbers.size] = numbers >> (8 * place)
        at += numbers.size
    return result


def _in_parts(runs: Runs) -> Iterator[Run]:
    for size, first in runs:
        yield from ((min(_PART, size - at), first + at) for at in range(0, size, _PART))


@dataclass(slots=True, kw_only=True)
class _Beginnings:
    """Where runs of elements begin, found from one digit of their numbers after the other, the lowest first."""

    begins: npt.NDArray[np.bool_]  # of each element: it is not the one before it plus one
    carry: npt.NDArray[np.bool_]  # of each element but the last: the digits so far were all 255
    firsts: npt.NDArray[np.int64] | None = None  # numbers of the elements that begin a run
    moved: bool = True  # every digit was there

    @classmethod
    def of(cls, elements: int) -> _Beginnings:
        import numpy as np

        begins = np.zeros(elements, np.bool_)
        begins[:1] = True
        return cls(begins=begins, carry=np.ones(max(elements - 1, 0), np.bool_))

    def look(self, digits: Digits | None, place: int) -> None:
        """Take the next digit of every element into account."""
        if digits is None:
            self.moved = False
            return
        for low in range(0, self.carry.size, _PART):  # in parts: what is made in between is small
            part = slice(low, low + _PART)
            before, behind = digits[:-1][part], digits[1:][part]
            self.begins[1:][part] |= behind != before + self.carry[part]
            self.carry[part] &= before == 255

    def count(self, digits: Digits | None, place: int) -> None:
        """Once it is known where runs begin: add up their first numbers."""
        import numpy as np

        if digits is None or not self.moved:
            return
        part = digits[self.begins].astype(np.int64) << (8 * place)
        self.firsts = part if self.firsts is None else self.firsts + part

    def runs(self, size_bytes: int) -> Runs | None:
        """The runs, in bytes; None where there were no digits."""
        import numpy as np

        if not self.moved or self.firsts is None:
            return None
        counts = np.diff(self.begins.nonzero()[0], append=self.begins.size)
        return joined(
            (count * size_bytes, first * size_bytes)
            for count, first in zip(counts.tolist(), self.firsts.tolist(), strict=True)
        )
