"""Knows index maps: one line that says which elements of its operands a kernel reads and writes; and its notation.
Does not know kernels, tiles or memories; they ask `window`.

    o h w c y x : X[c, h*sh+y-ph?, w*sw+x-pw?] W[o,c,y,x] B[o] -> Y[o,h,w]     convolution
    n c h w y<kh x<kw : X[n,c,h*sh+y-ph?,w*sw+x-pw?] -> Y[n,c,h,w]             pooling
    r : X[r,:] -> Y[r,:]                                                       softmax over rows
    i : X[...,i] -> Y[...,i]                                                   any leading axes

A loop that indexes every output is parallel, any other is a reduction; `~t` marks a loop that must run in
order. Indices are sums of integers, attributes and loops times constants, with `//`, `%` and
`clamp(index, low, high)` of such sums; one that changes nothing is dropped, as `o//og` where `o` runs `og` times.
`:` is the whole axis. `...` stands for as many leading parallel axes as the operand has. A trailing `?`
says that the index may fall outside the operand, where the kernel sees its padding value instead.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, Protocol

from tilewright.ir.access.index import Axis, Box, Index, Span, Term, bare_loop, folded, mentions, scaled, simplified


def split_indices(indices: str) -> tuple[str, ...]:
    """The texts between the commas, those inside parentheses left alone."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(indices):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(indices[start:position].strip())
            start = position + 1
    return tuple(part for part in (*parts, indices[start:].strip()) if part)


def expression(text: str, whole_text: str) -> ast.expr:
    """The syntax tree. ValueError, quoting the map, where Python cannot read it."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(f"index map {whole_text!r}: cannot read {text!r}") from None


def parse_index(text: str, loops: Sequence[str], values: Mapping[str, int], whole_text: str) -> Index | None:
    """An index; None for `:`, the whole axis. ValueError, quoting the map, where it is not affine."""
    if text == ":":
        return None
    return _linear(expression(text.removesuffix("?"), whole_text), loops, values, whole_text)


def _linear(node: ast.expr, loops: Sequence[str], values: Mapping[str, int], text: str) -> Index:
    match node:
        case ast.Name(id=name) if name in loops:
            return Index((Term(1, name),))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operation, right=right):
            sign = -1 if isinstance(operation, ast.Sub) else 1
            first, second = _linear(left, loops, values, text), scaled(_linear(right, loops, values, text), sign)
            return Index((*first.terms, *second.terms), first.offset + second.offset)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return scaled(_linear(operand, loops, values, text), -1)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            first, second = _linear(left, loops, values, text), _linear(right, loops, values, text)
            if first.terms and second.terms:
                raise ValueError(f"index map {text!r}: {ast.unparse(node)!r} multiplies two loops")
            return scaled(first, second.offset) if first.terms else scaled(second, first.offset)
        case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod() as operation, right=right):
            by = constant(right, values, text)
            if by < 1:
                raise ValueError(f"index map {text!r}: {ast.unparse(node)!r} divides by {by}")
            inner = _linear(left, loops, values, text)
            return folded(inner, "//" if isinstance(operation, ast.FloorDiv) else "%", (by,))
        case ast.Call(func=ast.Name(id="clamp"), args=[inner_node, low, high]):
            limits = (constant(low, values, text), constant(high, values, text))
            return folded(_linear(inner_node, loops, values, text), "clamp", limits)
        case _:
            return Index((), constant(node, values, text))


def constant(node: ast.expr, values: Mapping[str, int], text: str) -> int:
    """A number made of integers and attributes. ValueError, quoting the map, for anything else."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.Name(id=name):
            raise ValueError(f"index map {text!r}: {name!r} is neither a loop nor an attribute")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -constant(operand, values, text)
        case ast.BinOp(left=left, op=operation, right=right):
            first, second = constant(left, values, text), constant(right, values, text)
            for kind, result in ((ast.Add, first + second), (ast.Sub, first - second), (ast.Mult, first * second)):
                if isinstance(operation, kind):
                    return result
            if isinstance(operation, ast.FloorDiv) and second:
                return first // second
    raise ValueError(f"index map {text!r}: {ast.unparse(node)!r} is not an integer expression")


__all__ = [
    "Access",
    "Box",
    "Footprint",
    "IndexMap",
    "Loop",
    "MapAccess",
    "Span",
    "Window",
    "parse_map",
    "touched",
    "whole",
]

Kind = Literal["parallel", "reduce", "sequential"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One loop of a kernel: its extent, and whether its iterations may be separated."""

    name: str
    extent: int
    kind: Kind


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


@dataclass(frozen=True, slots=False, kw_only=True)
class MapAccess:
    """An index map with every extent and attribute filled in. Implements `Access`."""

    text: str
    loops: tuple[Loop, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    axes: Mapping[str, tuple[Axis, ...]]

    def __hash__(self) -> int:
        return hash((self.text, self.loops))  # `axes` have no hash; maps that are equal have equal texts and loops

    def window(self, operand: str, box: Box) -> Window:
        """See `Access.window`."""
        return tuple(axis.span(box) for axis in self.axes[operand])

    @cached_property
    def touched(self) -> Mapping[str, Window]:
        """By operand the window of all iterations together."""
        box = {loop.name: (0, loop.extent) for loop in self.loops}
        return {operand: self.window(operand, box) for operand in self.axes}

    @cached_property
    def moves(self) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """By operand and axis the loops that its index depends on."""
        names = [loop.name for loop in self.loops]
        return {
            operand: tuple(tuple(name for name in names if mentions(axis.index, name)) for axis in axes)
            for operand, axes in self.axes.items()
        }

    def verify(self) -> MapAccess:
        """Return self, or raise ValueError where an index that is not marked `?` leaves its operand."""
        for operand, window in self.touched.items():
            for position, (axis, span) in enumerate(zip(self.axes[operand], window, strict=True)):
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


def touched(access: Access, operand: str) -> Window:
    """The window of all iterations together."""
    if isinstance(access, MapAccess):
        return access.touched[operand]
    return access.window(operand, {loop.name: (0, loop.extent) for loop in access.loops})


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
        extents = ((name, tuple(shape)) for name, shape in shapes.items())
        return _bound(self, tuple(extents), tuple((attributes or {}).items()))

    def _worked_out(self, shapes: Mapping[str, Sequence[int]], values: Mapping[str, int]) -> MapAccess:
        """The same, worked out anew."""
        operands = [
            (name, self._expand(indices, len(shapes[name]))) for name, indices in self.operands if name in shapes
        ]
        rank = max([0, *(sum(index.startswith("_lead") for index in indices) for _, indices in operands)])
        names = (*(f"_lead{i}" for i in reversed(range(rank))), *(name for name, _, _ in self.loops))
        parsed = {
            name: tuple(parse_index(index, names, values, self.text) for index in indices) for name, indices in operands
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
        axes = {name: tuple(_settled(axis, extents) for axis in group) for name, group in axes.items()}
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
        extents = {name: constant(declared, values, self.text) for name, declared, _ in self.loops if declared}
        for operand in (*self.outputs, *(name for name in axes if name not in self.outputs)):
            for axis in axes.get(operand, ()):
                loop = bare_loop(axis)
                if loop and loop not in extents:
                    extents[loop] = axis.extent
        lost = [name for name in names if name not in extents]
        if lost:
            raise ValueError(
                f"index map {self.text!r}: nothing says how often {lost[0]!r} runs; declare it as {lost[0]}<extent"
            )
        return extents

    def _kind(self, loop: str, axes: Mapping[str, tuple[Axis, ...]], outputs: Sequence[str]) -> Kind:
        if any(name == loop and sequential for name, _, sequential in self.loops):
            return "sequential"
        everywhere = all(any(mentions(axis.index, loop) for axis in axes[output]) for output in outputs)
        return "parallel" if everywhere else "reduce"


@lru_cache(maxsize=1024)
def _bound(
    index_map: IndexMap, shapes: tuple[tuple[str, tuple[int, ...]], ...], values: tuple[tuple[str, int], ...]
) -> MapAccess:
    """Layers that differ in their weights alone, the whole of many a network, have one access."""
    return index_map._worked_out(dict(shapes), dict(values))


_OPERAND = re.compile(r"(\w+)\s*\[([^\]]*)\]")


@lru_cache(maxsize=1024)
def parse_map(text: str) -> IndexMap:
    """Parse an index map. Raises ValueError that quotes the text and says what is wrong."""
    head, colon, body = text.partition(":")
    left, arrow, right = body.partition("->")
    if not colon or not arrow:
        raise ValueError(f"index map {text!r} must read 'loops : Inputs[..] -> Outputs[..]'")
    loops = tuple(_loop(token, text) for token in head.split())
    if len({name for name, _, _ in loops}) != len(loops):
        raise ValueError(f"index map {text!r} needs every loop once")
    inputs, outputs = _operands(left, text), _operands(right, text)
    names = [name for name, _ in (*inputs, *outputs)]
    if not outputs or len(set(names)) != len(names):
        raise ValueError(f"index map {text!r} needs at least one output, and every operand once")
    return IndexMap(text, loops, (*inputs, *outputs), tuple(name for name, _ in outputs))


def _operands(part: str, text: str) -> list[tuple[str, tuple[str, ...]]]:
    rest = _OPERAND.sub(" ", part).strip()
    if rest:
        raise ValueError(f"index map {text!r}: cannot read {rest!r}")
    return [(name, split_indices(indices)) for name, indices in _OPERAND.findall(part)]


def _loop(token: str, text: str) -> tuple[str, ast.expr | None, bool]:
    name, bounded, extent = token.lstrip("~").partition("<")
    if not name.isidentifier():
        raise ValueError(f"index map {text!r}: {token!r} is not a loop")
    return name, expression(extent, text) if bounded else None, token.startswith("~")


def _settled(axis: Axis, extents: Mapping[str, int]) -> Axis:
    """The same once it is known how often loops run. A leading axis of extent 1 under a longer loop always reads its
    only position.
    """
    loop = bare_loop(axis)
    if loop.startswith("_lead") and axis.extent == 1 and extents[loop] > 1:
        return Axis(Index(()), 1)
    if axis.index is None or all(term.inner is None for term in axis.index.terms):
        return axis
    box = {name: (0, extent) for name, extent in extents.items()}
    return Axis(simplified(axis.index, box), axis.extent, axis.padded)
