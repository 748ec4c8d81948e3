"""Branches and loops of the file: those whose conditions are known, and branches that are chosen while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flat_models import G, Op, T, constant, file_of

from tilewright.errors import TilewrightError

Q: dict[str, Any] = {"scale": (0.5,), "zero": (-2,)}
X = np.float32([[1, -2, 3]])


def unary(code: str, **form: Any) -> G:
    """A graph of one operator."""
    tensors = [T(name="in", **form), T(name="out", **form)]
    return G(tensors=tensors, ops=[Op(code=code, inputs=(0,), outputs=(1,))], inputs=(0,), outputs=(1,))


def branches(condition: T, *, given: bool = False) -> bytes:
    """y = |x| where the condition holds, else -x."""
    form = {"type": "float32", "shape": (1, 3)}
    tensors = [condition, T(name="x", **form), T(name="y", **form)]
    ops = [Op(code="IF", inputs=(0, 1), outputs=(2,), options={0: ("<i", 1), 1: ("<i", 2)}, kind=92)]
    inputs = (0, 1) if given else (1,)
    return file_of(G(tensors=tensors, ops=ops, inputs=inputs, outputs=(2,)), unary("ABS", **form), unary("NEG", **form))


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("shape", [(), (1,)], ids=["scalar", "vector"])
def test_a_known_condition_leaves_one_branch(
    holds: bool, shape: tuple[int, ...], compute: Any, rewritten: Callable[[bytes], Any]
) -> None:
    data = branches(constant(np.full(shape, holds), "condition"))
    (y,) = compute(data, X)
    assert np.array_equal(y, abs(X) if holds else -X)
    assert [node.op for node in rewritten(data).nodes] == ["Abs" if holds else "Neg"]


@pytest.mark.parametrize("holds", [True, False])
def test_a_condition_of_the_run_chooses(holds: bool, compute: Any) -> None:
    (y,) = compute(branches(T(name="c", type="bool"), given=True), np.array(holds), X)
    assert np.array_equal(y, abs(X) if holds else -X)


def loop(times: int, *, step: int = 1, counted: bool = True) -> bytes:
    """v = relu(v + v), in integers, as long as i < times; i begins with 0 and grows by `step`."""
    i, v = T(name="i", type="int32"), {"shape": (1, 3), **Q}
    first = constant(np.int32(0), "zero") if counted else replace(i, name="start")
    tensors = [first, T(name="x", **v), i, T(name="y", **v)]
    ops = [Op(code="WHILE", inputs=(0, 1), outputs=(2, 3), options={0: ("<i", 1), 1: ("<i", 2)}, kind=93)]
    network = G(tensors=tensors, ops=ops, inputs=(1,) if counted else (0, 1), outputs=(3,))
    less = Op(code="LESS", inputs=(0, 2), outputs=(3,))
    held = [i, T(name="v", **v), constant(np.int32(times), "times"), T(name="going", type="bool")]
    asked = G(tensors=held, ops=[less], inputs=(0, 1), outputs=(3,))
    inside = [i, T(name="v", **v), constant(np.int32(step), "step"), replace(i, name="next"), T(name="more", **v)]
    grown = [
        Op(code="ADD", inputs=(0, 2), outputs=(3,), options={}, kind=11),
        Op(code="ADD", inputs=(1, 1), outputs=(4,), options={0: ("<b", 1)}, kind=11),
    ]
    return file_of(network, asked, G(tensors=inside, ops=grown, inputs=(0, 1), outputs=(3, 4)))


@pytest.mark.parametrize(("times", "step", "iterations"), [(0, 1, 0), (3, 1, 3), (5, 2, 3)])
def test_a_loop_runs_as_often_as_it_is_known_to(times: int, step: int, iterations: int, compute: Any) -> None:
    x = np.int8([[3, -7, 20]])
    (y,) = compute(loop(times, step=step), x)
    expected = x.astype(np.float64) * 0.5 + 1
    for _ in range(iterations):
        expected = np.clip(expected * 2, 0, 64.5)
    assert np.array_equal(y, expected / 0.5 - 2)


def test_integers_of_bodies_are_integer_steps(rewritten: Callable[[bytes], Any]) -> None:
    assert {node.op for node in rewritten(loop(2)).nodes} == {"QLookup"}  # a function of one tensor


def test_a_loop_that_the_run_counts_is_refused(read_in: Any) -> None:
    with pytest.raises(TilewrightError, match="cannot be imported") as caught:
        read_in(loop(3, counted=False))
    assert caught.value.code == "TW2101" and "run time" in " ".join(caught.value.details)


def test_a_loop_without_end_is_over_a_limit(read_in: Any) -> None:
    with pytest.raises(TilewrightError, match="loops unrolled") as caught:
        read_in(loop(1, step=0))
    assert caught.value.code == "TW1203"


def of_bodies(*bodies: G) -> bytes:
    form = {"type": "float32", "shape": (1, 3)}
    tensors = [constant(np.array(True), "condition"), T(name="x", **form), T(name="y", **form)]
    options = {0: ("<i", 1), 1: ("<i", len(bodies))}
    ops = [Op(code="IF", inputs=(0, 1), outputs=(2,), options=options, kind=92)]
    return file_of(G(tensors=tensors, ops=ops, inputs=(1,), outputs=(2,)), *bodies)


FORM: dict[str, Any] = {"type": "float32", "shape": (1, 3)}
ITSELF = G(
    tensors=[constant(np.array(True), "c"), T(name="in", **FORM), T(name="out", **FORM)],
    ops=[Op(code="IF", inputs=(0, 1), outputs=(2,), options={0: ("<i", 1), 1: ("<i", 1)}, kind=92)],
    inputs=(1,),
    outputs=(2,),
)


@pytest.mark.parametrize(
    ("bodies", "said"),
    [
        ([unary("UNIQUE", **FORM)], "in 'main', UNIQUE_0: no operator of this name"),
        ([unary("ABS", type="float32", shape=(3,))], "gives other types or shapes"),
        ([replace(unary("ABS", **FORM), inputs=(0, 0))], "has 2 inputs, and is given 1"),
        ([], "it runs graph 1, of 1"),
        ([ITSELF], "deep"),
    ],
    ids=["operator", "shape", "inputs", "absent", "itself"],
)
def test_bodies_that_cannot_be_taken(bodies: list[G], said: str, read_in: Any) -> None:
    with pytest.raises(TilewrightError) as caught:
        read_in(of_bodies(*bodies))
    assert caught.value.code == "TW2101" and said in " ".join(caught.value.details)
