"""Knows how an index is written: text to `Index`, attribute names filled in.
Does not know maps of several operands (`access`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tilewright.ir.access.index import Index, Term, folded, scaled


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
            one, other = _linear(left, loops, values, text), scaled(_linear(right, loops, values, text), sign)
            return Index((*one.terms, *other.terms), one.offset + other.offset)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return scaled(_linear(operand, loops, values, text), -1)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            one, other = _linear(left, loops, values, text), _linear(right, loops, values, text)
            if one.terms and other.terms:
                raise ValueError(f"index map {text!r}: {ast.unparse(node)!r} multiplies two loops")
            return scaled(one, other.offset) if one.terms else scaled(other, one.offset)
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
            one, other = constant(left, values, text), constant(right, values, text)
            for kind, result in ((ast.Add, one + other), (ast.Sub, one - other), (ast.Mult, one * other)):
                if isinstance(operation, kind):
                    return result
            if isinstance(operation, ast.FloorDiv) and other:
                return one // other
    raise ValueError(f"index map {text!r}: {ast.unparse(node)!r} is not an integer expression")
