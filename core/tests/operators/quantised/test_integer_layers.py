"""What vendors' kernels ask of integer layers: ranges that the worst inputs reach, forms that fit the layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Attribute, Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.operators.quantised.integer_layers import (
    centred_weights,
    refused_products,
    refused_softmax,
    scaled_sum_form,
    softmax_table,
    sum_bounds,
    sum_requant,
    zero_points,
)
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qelementwise import QADD, QMUL
from tilewright.operators.quantised.qgemm import QGEMM, QMATMUL
from tilewright.operators.quantised.qpool import QAVERAGE_POOL, QREDUCE_MEAN
from tilewright.operators.quantised.qsoftmax import QSOFTMAX
from tilewright.testing.operator_sites import site_of

REQUANT = Requant(scale=(0.01, 0.02), zero_point=0, low=-128, high=127)
ONE = Requant(scale=(0.01,), zero_point=0, low=-128, high=127)
WINDOW: Mapping[str, Attribute] = {
    "kernel_shape": (1,), "strides": (1,), "dilations": (1,), "pads": (0, 0), "ceil_mode": 0
}  # fmt: skip
X = np.zeros((1, 2), np.int8)
WEIGHTS = np.array([[3, -1], [-2, 5]], np.int8)  # [inputs, outputs]


def convolution() -> Site:
    inputs = [X[:, :, None], WEIGHTS.T[:, :, None], np.array([10, -10], np.int32)]
    return site_of(QCONV, inputs, {**WINDOW, "group": 1, "requant": REQUANT, "x_zero_point": 7}, (1, 2))


def product_of_weights() -> Site:
    inputs = [X, WEIGHTS, np.array([10, -10], np.int32)]
    return site_of(QGEMM, inputs, {"requant": REQUANT, "a_zero_point": 7}, (1, 2))


@pytest.mark.parametrize("site", [convolution(), product_of_weights()], ids=lambda site: site.node.op)
def test_the_worst_inputs_reach_the_bounds(site: Site) -> None:
    corners = np.array(list(product((-128 - 7, 127 - 7), repeat=2)))
    sums = corners @ WEIGHTS.astype(np.int64) + [10, -10]
    bounds = sum_bounds(site)
    assert (bounds.lowest, bounds.highest) == (tuple(sums.min(axis=0)), tuple(sums.max(axis=0)))
    assert len(sum_requant(site).words) == 2


def test_products_of_two_computed_tensors_have_one_bound() -> None:
    site = site_of(QMATMUL, [X, WEIGHTS], {"requant": ONE, "a_zero_point": 127, "b_zero_point": -128})
    assert (sum_bounds(site).lowest, sum_bounds(site).highest) == ((2 * -255 * 255,), (0,))
    assert len(sum_requant(site).words) == 1


@pytest.mark.parametrize(("operator", "inputs", "attributes"), [
    (QMUL, [X, X], {}),
    (QAVERAGE_POOL, [X[:, :, None]], WINDOW),
    (QREDUCE_MEAN, [X], {"axes": (1,), "keepdims": 1}),
], ids=lambda value: getattr(value, "name", ""))  # fmt: skip
def test_layers_of_one_channel_keep_their_scale(
    operator: Operator, inputs: list[np.ndarray], attributes: Mapping[str, Attribute]
) -> None:
    site = site_of(operator, inputs, {**attributes, "requant": ONE})
    form, bounds = sum_requant(site), sum_bounds(site)
    assert len(bounds.lowest) == len(bounds.highest) == 1 and bounds.lowest[0] < bounds.highest[0]
    (word,) = form.words
    exact = (form.array().view(np.uint32) & 0x7FFF_FFFF).view(np.float32)[0]
    assert (word / 2**form.shift if form.proved[0] else exact) == pytest.approx(0.01, rel=1e-4)


@pytest.mark.parametrize("ask", [sum_bounds, sum_requant])
def test_an_operator_without_sums(ask: object) -> None:
    with pytest.raises(KeyError, match="QSoftmax"):
        ask(site_of(QSOFTMAX, [X], {"x_scale": 0.1, "y_scale": 2.0**-8}))  # type: ignore[operator]


def test_a_sum_of_scaled_bytes() -> None:
    limits: dict[str, Attribute] = {"low": -128, "high": 127, "zero_point": 0}
    near = scaled_sum_form(site_of(QADD, [X, X], {"a_scale": 0.5, "b_scale": 0.25, **limits}))
    assert near is not None and (near.bits, near.ties, near.shift) == (32, True, 2)
    assert scaled_sum_form(site_of(QADD, [X, X], {"a_scale": 0.5, "b_scale": 2.0**-80, **limits})) is None


def test_exponentials() -> None:
    attributes: dict[str, Attribute] = {"axis": 1, "x_scale": 0.5, "y_scale": 2.0**-8, "zero_point": -128}
    site = site_of(QSOFTMAX, [X], {**attributes, "low": -128, "high": 127})
    table = softmax_table(site).astype(np.float64)
    assert table[:20] / table[0] == pytest.approx(np.exp(-0.5 * np.arange(20)), rel=1e-3)
    assert table[-1] > 0 and refused_softmax(site) is None
    zero = site_of(QSOFTMAX, [X], {**attributes, "x_scale": 0.0, "low": -128, "high": 127})
    assert "scales 0.0" in str(refused_softmax(zero))
    wide = site_of(QSOFTMAX, [X.astype(np.int16)], {**attributes, "y_scale": 2.0**-15, "low": -32768, "high": 32767})
    assert len(softmax_table(wide)) == 512 and refused_softmax(wide) is None
    assert "positive" in str(refused_softmax(site_of(QSOFTMAX, [X.astype(np.int16)], dict(zero.node.attributes))))


@pytest.mark.parametrize(("op", "name"), [("QConv", "w_zero_point"), ("QGemm", "b_zero_point")])
@pytest.mark.parametrize("zeros", [None, 3, (3,), (3, -2)])
def test_weights_lose_the_zero_points_of_their_outputs(op: str, name: str, zeros: int | tuple[int, ...] | None) -> None:
    """The outputs are the first axis of W, and the last one of B; -128 - 3 does not fit 8 bits."""
    stored = np.array([[-128, 5], [7, 127]], np.int8)
    attributes: dict[str, Attribute] = {} if zeros is None else {name: zeros}
    node = Node(name="n", op=op, inputs=("x", "w"), outputs=("y",), attributes=attributes)
    tensors = tuple(Tensor(name=one, dtype=DType.I8, shape=(2, 2)) for one in "xwy")
    found = centred_weights(Site(node=node, inputs=tensors[:2], outputs=tensors[2:], constants={"w": stored}))
    first, second = {None: (0, 0), 3: (3, 3), (3,): (3, 3), (3, -2): (3, -2)}[zeros]
    of_outputs = [[first, first], [second, second]] if op == "QConv" else [[first, second]] * 2
    assert zero_points(node, name) == {None: (0,), 3: (3,)}.get(zeros, zeros)
    assert found.dtype == np.int64 and found.tolist() == (stored.astype(int) - np.array(of_outputs)).tolist()


@pytest.mark.parametrize("site", [convolution(), product_of_weights()], ids=lambda site: site.node.op)
def test_products_of_bytes_are_refused_for_one_reason_each(site: Site) -> None:
    def with_input(number: int, **changes: object) -> Site:
        tensors = [replace(tensor, **changes) if at == number else tensor for at, tensor in enumerate(site.inputs)]  # type: ignore[arg-type, type-var]
        return replace(site, inputs=tuple(tensors))

    assert refused_products(site) is None
    assert refused_products(replace(site, constants={})) == "weights and bias must be constants"
    assert refused_products(with_input(0, dtype=DType.I16)) == "values and weights must be i8 or u8"
    assert refused_products(with_input(2, dtype=DType.I64)) == "the bias must be i32"
    assert refused_products(with_input(0, shape=(0, *site.input(0).shape[1:]))) == "has no elements"
    axes = refused_products(with_input(0, shape=(1, 2, 1, 1, 1)))
    assert axes == ("has 3 spatial axes; 1 and 2 are supported" if site.node.op == "QConv" else None)
