"""Equations of Einsum: beside numpy, for what transformers write and for everything odd."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import helper

from tilewright.errors import TilewrightError

Both = Callable[..., tuple[list[np.ndarray], list[np.ndarray]]]
EXTENTS = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 2, "i": 3, "j": 4, "k": 2}


def operands(*shapes: tuple[int, ...]) -> dict[str, np.ndarray]:
    random = np.random.default_rng(len(shapes))
    return {f"x{at}": random.standard_normal(shape).astype(np.float32) for at, shape in enumerate(shapes)}


def result(beside_onnx: Both, equation: str, given: dict[str, np.ndarray]) -> np.ndarray:
    node = helper.make_node("Einsum", list(given), ["y"], equation=equation)
    ((found,), _) = beside_onnx(node, given, opset=12, theirs=False)
    return found


@pytest.mark.parametrize(
    "equation",
    [
        "ij,jk->ik", "bij, bjk -> bik", "bid,bjd->bij", "abcd,aecd->acbe", "ij->ji", "ij->i", "ij->", "i,i->",
        "i,j->ij", "ij,ij->ij", "ab,bc,cd->ad", "abc,b->ac", "abc,d->abcd", "ij,jk", "ba", "abc,cd->abd", "ab,ab,ab->a",
        "ab,c->b", "bcd,bd->cb", "i->i",
    ],
)  # fmt: skip
def test_letters(beside_onnx: Both, equation: str) -> None:
    parts = equation.replace(" ", "").split("->")[0].split(",")
    given = operands(*(tuple(EXTENTS[letter] for letter in part) for part in parts))
    expected = np.einsum(equation, *given.values())
    found = result(beside_onnx, equation, given)
    assert found.shape == expected.shape and np.allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ij,...jk->...ik", ((2, 3, 4, 5), (2, 3, 5, 6))),
        ("...ij,jk->...ik", ((2, 3, 4), (4, 5))),
        ("...ij,...jk->...ik", ((2, 1, 4, 5), (3, 5, 6))),
        ("...i->...", ((2, 3, 4),)),
        ("...ij->...ji", ((1, 2, 3),)),
        ("i...,i...->...", ((3, 1, 2), (3, 4, 1))),
        ("...i,...i", ((2, 3), (2, 3))),
    ],
)
def test_an_ellipsis(beside_onnx: Both, equation: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    given = operands(*shapes)
    expected = np.einsum(equation, *given.values())
    found = result(beside_onnx, equation, given)
    assert found.shape == expected.shape and np.allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        ("ii->i", "twice"),
        ("ij,jk->ik", "2 operands, there are 1"),
        ("ij->ik", "no operand has"),
        ("i->i", "a letter for each axis"),
        ("i*->i", "no equation of letters"),
    ],
)
def test_refused(beside_onnx: Both, equation: str, reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason):
        result(beside_onnx, equation, operands((3, 3)))


def test_extents_that_differ(beside_onnx: Both) -> None:
    with pytest.raises(TilewrightError, match="has 4 elements, another 3"):
        result(beside_onnx, "ij,jk->ik", operands((2, 3), (4, 2)))
