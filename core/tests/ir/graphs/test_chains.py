"""The operator of a chain computes what its nodes do, one after the other, and may be off as far as they can be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chained_product import CHAIN

from tilewright.ir.graphs.chains import chain_node, chain_operator, unproved
from tilewright.ir.graphs.evaluation import allowed, results
from tilewright.ir.graphs.graph import Node, Site, Tensor
from tilewright.ir.plans.layer import layer_key
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of

DRAWN = np.random.default_rng(0)
A, B, C = (DRAWN.standard_normal(shape).astype(np.float32) for shape in ((6, 5), (5, 7), (6, 7)))
WINDOWS = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1}


def test_its_operands_are_those_of_all_nodes() -> None:
    assert (CHAIN.name, CHAIN.inputs, CHAIN.outputs) == ("MatMul+Add", ("A", "B", "add_A", "add_B"), ("add_Y",))
    twice = chain_operator([vocabulary()[name] for name in ("Add", "Add", "Add")])
    assert twice.inputs == ("A", "B", "add1_A", "add1_B", "add2_A", "add2_B")
    with pytest.raises(ValueError, match="Concat has any number of inputs"):
        chain_operator([vocabulary()[name] for name in ("MatMul", "Concat")])


def test_it_computes_one_node_after_the_other() -> None:
    site = site_of(CHAIN, [A, B, C, None], {}, (1,))
    assert site.output.shape == (6, 7) and CHAIN.macs(site) == 6 * 7 * 5
    assert [member.node.op for member in site.members()] == ["MatMul", "Add"]
    assert site.members()[0].constant(1) is B
    (found,) = results(CHAIN, site, [A, B, C, None])
    product, total = vocabulary()["MatMul"], vocabulary()["Add"]
    (between,) = results(product, site.members()[0], [A, B])
    assert np.array_equal(found, results(total, site.members()[1], [C, between])[0])


def test_attributes_are_of_the_node_at_their_position() -> None:
    chain = chain_operator([vocabulary()[name] for name in ("Conv", "Softmax")])
    image, weights = np.ones((1, 2, 4, 4), np.float32), np.ones((3, 2, 3, 3), np.float32)
    given = {**{f"0.{name}": value for name, value in WINDOWS.items()}, "1.axis": 3}
    site = site_of(chain, [image, weights, None, None], given, (1,))
    assert site.members()[0].node.integers("pads") == (1, 1, 1, 1)
    assert site.members()[1].node.integer("axis") == 3
    with pytest.raises(ValueError, match="with padding is needed whole"):
        chain.access(site)


def test_no_program_whose_nodes_are_right_is_further_off_than_is_allowed() -> None:
    chain = chain_operator([vocabulary()[name] for name in ("MatMul", "Add", "Softmax")])
    site = site_of(chain, [A, B, None, C, None], {"2.axis": 1}, (1,))
    (limit,), (reference,) = allowed(chain, site, [A, B, None, C, None]), results(chain, site, [A, B, None, C, None])
    assert limit is not None
    steps = [(vocabulary()[member.node.op], member) for member in site.members()]
    largest = 0.0
    for _ in range(50):
        value: np.ndarray = A
        for (operator, member), others in zip(steps, ([B], [C], []), strict=True):
            arrays = [value, *others]
            (own,), (exact,) = allowed(operator, member, arrays), results(operator, member, arrays)
            assert own is not None
            value = (exact + own * DRAWN.choice((-1.0, 1.0), exact.shape)).astype(np.float32)
        assert (np.abs(value.astype(np.float64) - reference) <= limit).all()
        largest = max(largest, float(np.max(np.abs(value.astype(np.float64) - reference) / limit)))
    assert largest > 1 / 50, "what is allowed is not out of all proportion"


def test_integers_stay_exact() -> None:
    chain = chain_operator([vocabulary()[name] for name in ("Clip", "Transpose")])
    x = DRAWN.integers(-9, 9, (3, 4)).astype(np.int8)
    site = site_of(chain, [x, None], {"0.min": -2, "0.max": 5, "1.perm": (1, 0)})
    assert chain.tolerance is None or allowed(chain, site, [x, None]) == (None,)
    assert unproved(site, vocabulary()) == ""


def test_floats_of_which_nothing_is_proved_are_named() -> None:
    chain = chain_operator([vocabulary()[name] for name in ("MatMul", "Neg")])
    assert unproved(site_of(chain, [A, B, None], {}, (1,)), vocabulary()).startswith("nothing is proved of Neg")
    half = [A.astype(np.float16), B.astype(np.float16), C.astype(np.float16), None]
    assert unproved(site_of(CHAIN, half, {}, (1,)), vocabulary()).startswith("nothing is proved of Add")


def test_layers_differ_by_what_is_inside() -> None:
    site = site_of(CHAIN, [A, B, None, C], {}, (1,))
    assert layer_key(site) == layer_key(site_of(CHAIN, [A + 1, B, None, C], {}, (1,)))
    assert layer_key(site) != layer_key(site_of(CHAIN, [A, B, C, None], {}, (1,)))
    inside = replace(site.node.links[1], node=replace(site.node.links[1].node, attributes={"clip_low": 0.0}))
    other = replace(site, node=replace(site.node, links=(site.node.links[0], inside)))
    assert layer_key(site) != layer_key(other)


def _node(name: str, op: str, inputs: tuple[str, ...], **attributes: str) -> Node:
    return Node(name=name, op=op, inputs=inputs, outputs=(f"{name}_out",), attributes=attributes)


def test_what_is_no_chain_is_refused() -> None:
    product = _node("one", "MatMul", ("x", "w"), rounding="tflm")
    tensors = {name: Tensor(name=name, dtype=DType.F32, shape=(4, 4)) for name in ("one_out", "two_out")}
    with pytest.raises(ValueError, match="reads 'one_out' 2 times"):
        chain_node([product, _node("two", "Add", ("one_out", "one_out"))], tensors, vocabulary())
    with pytest.raises(ValueError, match="round as onnx and tflm do"):
        chain_node([product, _node("two", "Add", ("one_out", "x"), rounding="onnx")], tensors, vocabulary())
    joined = chain_node([product, _node("two", "Add", ("one_out", "x"))], tensors, vocabulary())
    assert joined.rounding == "tflm"


def test_a_node_that_is_no_chain_has_no_members() -> None:
    site: Site = site_of(vocabulary()["MatMul"], [A, B])
    assert site.members() == ()
