"""Knows Einsum: an equation becomes products of two operands at a time, matrix products where something is summed.
Does not know how those are computed.

Source: ONNX Einsum-12. Extents of one letter are equal; axes of an ellipsis broadcast.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_few_operands

_ELLIPSIS = "..."
_MANY = 2**31  # operands


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A value and the letter of each of its axes; digits stand for axes of an ellipsis."""

    name: str
    letters: str


@dataclass(slots=True, kw_only=True)
class _Sum:
    """One node at work."""

    node: OnnxNode
    graph: Conversion
    extents: dict[str, int] = field(default_factory=dict)

    def shape(self, letters: str) -> tuple[int, ...]:
        return tuple(self.extents[letter] for letter in letters)

    def ordered(self, term: Term, letters: str) -> str:
        """The value with its axes in this order, which has the same letters."""
        if term.letters == letters:
            return term.name
        order = tuple(term.letters.index(letter) for letter in letters)
        return self.graph.emit(self.node, "Transpose", (term.name,), (), {"perm": order}, "moved")

    def reshaped(self, name: str, shape: tuple[int, ...]) -> str:
        if self.graph.tensor(name).shape == shape:
            return name
        return self.graph.emit(self.node, "Reshape", (name,), (), {"shape": shape}, "shaped")

    def summed(self, term: Term, kept: str) -> Term:
        """Without the axes that nobody else asks for."""
        axes = tuple(at for at, letter in enumerate(term.letters) if letter not in kept)
        if not axes:
            return term
        over = {"axes": axes, "keepdims": 0}
        name = self.graph.apply(self.node, "ReduceSum", 1, (term.name,), (), over, "summed")
        return Term(name=name, letters="".join(letter for letter in term.letters if letter in kept))

    def product(self, left_term: Term, right_term: Term, kept: str) -> Term:
        """Both multiplied, and summed over what they share and nobody else asks for."""
        both = [letter for letter in left_term.letters if letter in right_term.letters]
        batch = "".join(letter for letter in both if letter in kept)
        inner = "".join(letter for letter in both if letter not in kept)
        left = "".join(letter for letter in left_term.letters if letter not in both)
        right = "".join(letter for letter in right_term.letters if letter not in both)
        letters = batch + left + right
        if not inner:
            wide = self.reshaped(self.ordered(left_term, batch + left), self.shape(batch + left) + (1,) * len(right))
            tall = self.reshaped(
                self.ordered(right_term, batch + right), self.shape(batch) + (1,) * len(left) + self.shape(right)
            )
            return Term(name=self.graph.emit(self.node, "Mul", (wide, tall), hint="product"), letters=letters)
        lead = self.shape(batch)
        rows, depth, columns = (math.prod(self.shape(part)) for part in (left, inner, right))
        a = self.reshaped(self.ordered(left_term, batch + left + inner), (*lead, rows, depth))
        b = self.reshaped(self.ordered(right_term, batch + inner + right), (*lead, depth, columns))
        product = self.graph.apply(self.node, "MatMul", 13, (a, b), hint="product")
        return Term(name=self.reshaped(product, self.shape(letters)), letters=letters)


def _einsum(node: OnnxNode, graph: Conversion) -> None:
    need_few_operands(node, graph)
    ranks = [len(graph.tensor(name).shape) for name in node.inputs]
    inputs, output = _read(node, graph, node.text("equation").replace(" ", ""), ranks)
    work = _Sum(node=node, graph=graph)
    terms = [_own(work, name, letters) for name, letters in zip(node.inputs, inputs, strict=True)]
    missing = [letter for letter in output if all(letter not in term.letters for term in terms)]
    # An axis of an ellipsis that all operands have with one element is in none of them any more.
    wanted = "".join(letter for letter in output if letter not in missing)
    while len(terms) > 1:
        first, second, *rest = terms
        first_kept = wanted + "".join(term.letters for term in (second, *rest))
        second_kept = wanted + "".join(term.letters for term in (first, *rest))
        kept = wanted + "".join(term.letters for term in rest)
        terms = [work.product(work.summed(first, first_kept), work.summed(second, second_kept), kept), *rest]
    result = work.ordered(work.summed(terms[0], wanted), wanted)
    graph.rename(node, work.reshaped(result, tuple(work.extents.get(letter, 1) for letter in output)))


def _own(work: _Sum, name: str, letters: str) -> Term:
    """An operand; axes of an ellipsis with one element are dropped, because they broadcast."""
    shape = work.graph.tensor(name).shape
    kept = [at for at, letter in enumerate(letters) if not (letter.isdigit() and shape[at] == 1)]
    for at in kept:
        if work.extents.setdefault(letters[at], shape[at]) != shape[at]:
            known = work.extents[letters[at]]
            raise work.graph.refuse(work.node, f"an axis '{letters[at]}' has {shape[at]} elements, another {known}")
    kept_letters = "".join(letters[at] for at in kept)
    return Term(name=work.reshaped(name, tuple(shape[at] for at in kept)), letters=kept_letters)


def _read(node: OnnxNode, graph: Conversion, equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of every operand and of the output, ellipses replaced by digits."""
    left, arrow, right = equation.partition("->")
    operands = left.split(",")
    if len(operands) != len(ranks):
        raise graph.refuse(node, f"{equation!r} is about {len(operands)} operands, there are {len(ranks)}")
    dots = [rank - len(part.replace(_ELLIPSIS, "")) for part, rank in zip(operands, ranks, strict=True)]
    most = max((count for part, count in zip(operands, dots, strict=True) if _ELLIPSIS in part), default=0)
    digits = "0123456789"[:most]
    if most > 10 or any(
        count < 0 or (count and _ELLIPSIS not in part) for part, count in zip(operands, dots, strict=True)
    ):
        raise graph.refuse(node, f"{equation!r} does not have a letter for each axis of its operands")
    inputs = [
        part.replace(_ELLIPSIS, digits[most - count :] if count else "", 1)
        for part, count in zip(operands, dots, strict=True)
    ]
    letters = Counter("".join(inputs))
    once = sorted(letter for letter, count in letters.items() if count == 1 and not letter.isdigit())
    output = right.replace(_ELLIPSIS, digits, 1) if arrow else digits + "".join(once)
    for part in (*inputs, output):
        if not all(letter.isalnum() for letter in part):
            raise graph.refuse(node, f"{equation!r} is no equation of letters")
        if len(set(part)) < len(part):
            raise graph.refuse(node, f"{equation!r} has a letter twice in one operand, or in the output")
    if any(letter not in letters for letter in output):
        raise graph.refuse(node, f"{equation!r} has a letter in its output that no operand has")
    return inputs, output


IMPORTS = (Import(op_type="Einsum", since=12, attributes={"equation": "STRING"}, convert=_einsum, max_inputs=_MANY),)
