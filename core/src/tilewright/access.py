"""Knows index maps: one line that says which elements of its operands a kernel reads and writes.
Does not know kernels, tiles or memories; they ask `window`.

    o h w c y x : X[c, h*sh+y-ph?, w*sw+x-pw?] W[o,c,y,x] B[o] -> Y[o,h,w]     convolution
    n c h w y<kh x<kw : X[n,c,h*sh+y-ph?,w*sw+x-pw?] -> Y[n,c,h,w]             pooling
    r : X[r,:] -> Y[r,:]                                                       softmax over rows
    i : X[...,i] -> Y[...,i]                                                   any leading axes

A loop that indexes every output is parallel, any other is a reduction; `~t` marks a loop that must run in
order. Indices are sums of integers, attributes and loops times constants, with `//`, `%` and
`clamp(index, low, high)` of such sums. `:` is the whole axis. `...` stands for as many leading parallel axes
as the operand has. A trailing `?` says that the index may fall outside the operand, where the kernel sees
its padding value instead.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol

Box = Mapping[str, tuple[int, int]]  # loop -> half-open range of its trips
Kind = Literal["parallel", "reduce", "sequential"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One loop of a kernel: how often it runs and whether its trips may be separated."""

    name: str
    extent: int
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The part of one operand axis that a box of loops touches: `range(low, high, step)`.

    `before` and `after` count positions outside the operand, where padding is read.
    """

    low: int
    high: int
    step: int = 1
    before: int = 0
    after: int = 0

    @property
    def extent(self) -> int:
        """Positions from the first to the last, padding excluded."""
        return max(0, self.high - self.low)


Window = tuple[Span, ...]


class Access(Protocol):
    """What the core asks of any operator or kernel: its loops, its operands, and footprints."""

    @property
    def loops(self) -> tuple[Loop, ...]: ...

    @property
    def inputs(self) -> tuple[str, ...]: ...

    @property
    def outputs(self) -> tuple[str, ...]: ...

    def window(self, operand: str, box: Box) -> Window:
        """The smallest box of `operand` that holds everything the loops in `box` touch."""
        ...


@dataclass(frozen=True, slots=True)
class Term:
    """`coefficient * loop`, or `coefficient * (inner // by)`, `% by`, or `clamp(inner, *by)`."""

    coefficient: int
    loop: str = ""
    inner: Index | None = None
    operation: Literal["", "//", "%", "clamp"] = ""
    by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Index:
    """One axis of an operand, as a sum of terms."""

    terms: tuple[Term, ...]
    offset: int = 0

    def range(self, box: Box) -> tuple[int, int]:
        """The smallest and largest value over `box`, both included."""
        low = high = self.offset
        for term in self.terms:
            ends = [end * term.coefficient for end in _atom_range(term, box)]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def step(self, box: Box) -> int:
        """The lattice on which all values over `box` lie."""
        moving = 0
        for term in self.terms:
            if term.inner is not None:
                return 1
            low, high = box[term.loop]
            if high - low > 1:
                moving = math.gcd(moving, abs(term.coefficient))
        return max(moving, 1)

    def at(self, point: Mapping[str, int]) -> int:
        """The value at one trip of every loop."""
        return self.range({loop: (trip, trip + 1) for loop, trip in point.items()})[0]


@dataclass(frozen=True, slots=True)
class Axis:
    """How one axis of an operand is indexed. `index` None means the whole axis."""

    index: Index | None
    extent: int
    padded: bool = False

    def span(self, box: Box) -> Span:
        """The positions touched over `box`, clipped to the operand."""
        if self.index is None:
            return Span(low=0, high=self.extent)
        low, last = self.index.range(box)
        step = self.index.step(box)
        before, after = max(0, -low), max(0, last + 1 - self.extent)
        if before or after:
            step = 1
        return Span(
            low=min(max(low, 0), self.extent),
            high=max(min(last + 1, self.extent), 0),
            step=step,
            before=before,
            after=after,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MapAccess:
    """An index map with every extent and attribute filled in. Implements `Access`."""

    text: str
    loops: tuple[Loop, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    axes: Mapping[str, tuple[Axis, ...]]

    def window(self, operand: str, box: Box) -> Window:
        """See `Access.window`."""
        return tuple(axis.span(box) for axis in self.axes[operand])

    def verify(self) -> MapAccess:
        """Return self, or raise ValueError where an index that is not marked `?` leaves its operand."""
        whole = {loop.name: (0, loop.extent) for loop in self.loops}
        for operand, axes in self.axes.items():
            for position, axis in enumerate(axes):
                span = axis.span(whole)
                if (span.before or span.after) and not axis.padded:
                    raise ValueError(
                        f"index map {self.text!r}: axis {position} of {operand} leaves the operand by {span.before} "
                        f"before and {span.after} after; write `?` where padding is read"
                    )
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """An access that no map expresses: a function from box to windows. Implements `Access`."""

    loops: tuple[Loop, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    windows: Callable[[str, Box], Window]

    def window(self, operand: str, box: Box) -> Window:
        """See `Access.window`."""
        return self.windows(operand, box)


def whole(inputs: Mapping[str, Sequence[int]], outputs: Mapping[str, Sequence[int]]) -> Footprint:
    """The access of an operator that can only run in one piece: no loop, every operand whole."""
    shapes = {**inputs, **outputs}
    return Footprint(
        loops=(),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        windows=lambda operand, box: tuple(Span(low=0, high=extent) for extent in shapes[operand]),
    )


@dataclass(frozen=True, slots=True)
class IndexMap:
    """A parsed, unbound index map. Attributes are still names."""

    text: str
    loops: tuple[tuple[str, ast.expr | None, bool], ...]  # name, declared extent, sequential
    operands: tuple[tuple[str, tuple[str, ...]], ...]  # name, index texts
    outputs: tuple[str, ...]

    def bind(self, shapes: Mapping[str, Sequence[int]], attributes: Mapping[str, int] | None = None) -> MapAccess:
        """Fill in `shapes` (operand -> extents) and attribute values.

        Operands that `shapes` leaves out are absent optional inputs and are dropped.
        Raises ValueError, with the map's text, when an extent cannot be derived or ranks differ.
        """
        values = dict(attributes or {})
        operands = [
            (name, self._expand(indices, len(shapes[name]))) for name, indices in self.operands if name in shapes
        ]
        rank = max([0, *(sum(index.startswith("_lead") for index in indices) for _, indices in operands)])
        names = (*(f"_lead{i}" for i in range(rank)), *(name for name, _, _ in self.loops))
        parsed = {
            name: tuple(_index(index, names, values, self.text) for index in indices) for name, indices in operands
        }
        for name, indices in parsed.items():
            if len(indices) != len(shapes[name]):
                raise ValueError(
                    f"index map {self.text!r}: {name} has {len(indices)} indices, its shape is {tuple(shapes[name])}"
                )
        axes = {
            name: tuple(
                Axis(index, extent, text.endswith("?"))
                for index, extent, text in zip(parsed[name], shapes[name], texts, strict=True)
            )
            for name, texts in operands
        }
        extents = self._extents(axes, names, values)
        axes = {name: tuple(_broadcast(axis, extents) for axis in group) for name, group in axes.items()}
        outputs = tuple(name for name in self.outputs if name in shapes)
        return MapAccess(
            text=self.text,
            loops=tuple(Loop(name=name, extent=extents[name], kind=self._kind(name, axes, outputs)) for name in names),
            inputs=tuple(name for name, _ in operands if name not in outputs),
            outputs=outputs,
            axes=axes,
        )

    def _expand(self, indices: tuple[str, ...], rank: int) -> tuple[str, ...]:
        if "..." not in indices:
            return indices
        lead = rank - (len(indices) - 1)
        # Leading axes align at the right, as broadcasting does: count them from the innermost.
        names = [f"_lead{lead - 1 - i}" for i in range(lead)]
        at = indices.index("...")
        return (*indices[:at], *names, *indices[at + 1 :])

    def _extents(
        self, axes: Mapping[str, tuple[Axis, ...]], names: Sequence[str], values: Mapping[str, int]
    ) -> dict[str, int]:
        found = {name: _constant(declared, values, self.text) for name, declared, _ in self.loops if declared}
        for operand in (*self.outputs, *(name for name in axes if name not in self.outputs)):
            for axis in axes.get(operand, ()):
                loop = _bare_loop(axis)
                if loop and loop not in found:
                    found[loop] = axis.extent
        lost = [name for name in names if name not in found]
        if lost:
            raise ValueError(
                f"index map {self.text!r}: nothing says how often {lost[0]!r} runs; declare it as {lost[0]}<extent"
            )
        return found

    def _kind(self, loop: str, axes: Mapping[str, tuple[Axis, ...]], outputs: Sequence[str]) -> Kind:
        if any(name == loop and sequential for name, _, sequential in self.loops):
            return "sequential"
        everywhere = all(any(_mentions(axis.index, loop) for axis in axes[output]) for output in outputs)
        return "parallel" if everywhere else "reduce"


_OPERAND = re.compile(r"(\w+)\s*\[([^\]]*)\]")


@lru_cache(maxsize=1024)
def parse_map(text: str) -> IndexMap:
    """Parse an index map. Raises ValueError that quotes the text and says what is wrong."""
    head, colon, body = text.partition(":")
    left, arrow, right = body.partition("->")
    if not colon or not arrow:
        raise ValueError(f"index map {text!r} must read 'loops : Inputs[..] -> Outputs[..]'")
    loops = tuple(_loop(token, text) for token in head.split())
    inputs = [(name, _split(indices)) for name, indices in _OPERAND.findall(left)]
    outputs = [(name, _split(indices)) for name, indices in _OPERAND.findall(right)]
    names = [name for name, _ in (*inputs, *outputs)]
    if not outputs or len(set(names)) != len(names):
        raise ValueError(f"index map {text!r} needs at least one output, and every operand once")
    return IndexMap(text, loops, (*inputs, *outputs), tuple(name for name, _ in outputs))


def _loop(token: str, text: str) -> tuple[str, ast.expr | None, bool]:
    name, bounded, extent = token.lstrip("~").partition("<")
    if not name.isidentifier():
        raise ValueError(f"index map {text!r}: {token!r} is not a loop")
    return name, _expression(extent, text) if bounded else None, token.startswith("~")


def _split(indices: str) -> tuple[str, ...]:
    parts, depth, start = [], 0, 0
    for position, character in enumerate(indices):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(indices[start:position].strip())
            start = position + 1
    return tuple(part for part in (*parts, indices[start:].strip()) if part)


def _expression(text: str, whole_text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(f"index map {whole_text!r}: cannot read {text!r}") from None


def _index(text: str, loops: Sequence[str], values: Mapping[str, int], whole_text: str) -> Index | None:
    if text == ":":
        return None
    return _linear(_expression(text.removesuffix("?"), whole_text), loops, values, whole_text)


def _linear(node: ast.expr, loops: Sequence[str], values: Mapping[str, int], text: str) -> Index:
    match node:
        case ast.Name(id=name) if name in loops:
            return Index((Term(1, name),))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operation, right=right):
            sign = -1 if isinstance(operation, ast.Sub) else 1
            one, other = _linear(left, loops, values, text), _scaled(_linear(right, loops, values, text), sign)
            return Index((*one.terms, *other.terms), one.offset + other.offset)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _scaled(_linear(operand, loops, values, text), -1)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            one, other = _linear(left, loops, values, text), _linear(right, loops, values, text)
            if one.terms and other.terms:
                raise ValueError(f"index map {text!r}: {ast.unparse(node)!r} multiplies two loops")
            return _scaled(one, other.offset) if one.terms else _scaled(other, one.offset)
        case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod() as operation, right=right):
            by = _constant(right, values, text)
            inner = _linear(left, loops, values, text)
            return _folded(inner, "//" if isinstance(operation, ast.FloorDiv) else "%", (by,))
        case ast.Call(func=ast.Name(id="clamp"), args=[inner_node, low, high]):
            limits = (_constant(low, values, text), _constant(high, values, text))
            return _folded(_linear(inner_node, loops, values, text), "clamp", limits)
        case _:
            return Index((), _constant(node, values, text))


def _folded(inner: Index, operation: Literal["//", "%", "clamp"], by: tuple[int, ...]) -> Index:
    if operation == "//" and by == (1,):
        return inner
    if not inner.terms:
        return Index((), _apply(operation, inner.offset, by))
    return Index((Term(1, inner=inner, operation=operation, by=by),))


def _scaled(index: Index, factor: int) -> Index:
    terms = tuple(
        Term(term.coefficient * factor, term.loop, term.inner, term.operation, term.by) for term in index.terms
    )
    return Index(terms if factor else (), index.offset * factor)


def _constant(node: ast.expr, values: Mapping[str, int], text: str) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.Name(id=name):
            raise ValueError(f"index map {text!r}: {name!r} is neither a loop nor an attribute")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_constant(operand, values, text)
        case ast.BinOp(left=left, op=operation, right=right):
            one, other = _constant(left, values, text), _constant(right, values, text)
            for kind, result in ((ast.Add, one + other), (ast.Sub, one - other), (ast.Mult, one * other)):
                if isinstance(operation, kind):
                    return result
            if isinstance(operation, ast.FloorDiv) and other:
                return one // other
    raise ValueError(f"index map {text!r}: {ast.unparse(node)!r} is not an integer expression")


def _atom_range(term: Term, box: Box) -> tuple[int, int]:
    if term.inner is None:
        low, high = box[term.loop]
        return low, max(low, high - 1)
    low, high = term.inner.range(box)
    if term.operation == "%":
        (by,) = term.by
        return (low % by, high % by) if low // by == high // by else (0, by - 1)
    return _apply(term.operation, low, term.by), _apply(term.operation, high, term.by)


def _apply(operation: str, value: int, by: tuple[int, ...]) -> int:
    if operation == "//":
        return value // by[0]
    if operation == "%":
        return value % by[0]
    return min(max(value, by[0]), by[1])


def _bare_loop(axis: Axis) -> str:
    if axis.index is None or axis.index.offset or len(axis.index.terms) != 1:
        return ""
    (term,) = axis.index.terms
    return term.loop if term.coefficient == 1 else ""


def _broadcast(axis: Axis, extents: Mapping[str, int]) -> Axis:
    """A leading axis of extent 1 under a longer loop always reads its only position."""
    loop = _bare_loop(axis)
    if loop.startswith("_lead") and axis.extent == 1 and extents[loop] > 1:
        return Axis(Index(()), 1)
    return axis


def _mentions(index: Index | None, loop: str) -> bool:
    if index is None:
        return False
    return any(term.loop == loop or (term.inner is not None and _mentions(term.inner, loop)) for term in index.terms)
