"""`onnx`: the float32 formula of products, and exact means, products of tensors and pools."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.requant import ONNX as FLOAT32
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.ir.tensors.roundings import DoubleRounding, Rational
from tilewright.operators.arithmetics.onnx import ONNX
from tilewright.operators.quantised.qelementwise import QMUL
from tilewright.operators.quantised.qgemm import QGEMM
from tilewright.operators.quantised.qpool import QAVERAGE_POOL, QREDUCE_MEAN
from tilewright.testing.operator_sites import site_of

RNG = np.random.default_rng(3)


def image(*shape: int) -> npt.NDArray[np.int8]:
    return RNG.integers(-128, 128, shape).astype(np.int8)


def made(requant: object) -> Requant:
    assert isinstance(requant, Requant)
    return requant


def test_products_have_the_formula_whatever_they_had() -> None:
    stored = StoredScales(x=float(np.float32(0.05)), w=(float(np.float32(0.02)), 0.5), y=float(np.float32(0.1)))
    before = Requant(scale=(1.0, 2.0), zero_point=0, low=-9, high=9, rounding=DoubleRounding(), stored=stored)
    attributes: dict[str, Attribute] = {"a_zero_point": 0, "b_zero_point": (0,), "requant": before}
    answer = ONNX.declared(site_of(QGEMM, [image(1, 4), image(4, 2), None], attributes, (1,)))
    assert not isinstance(answer, str)
    found = made(answer["requant"])
    product = np.float32(stored.x) * np.array(stored.w, np.float32)
    assert found.scale == tuple(float(scale) for scale in product / np.float32(stored.y))
    assert (found.rounding, found.stored) == (FLOAT32, stored)


@pytest.mark.parametrize(("scales", "exact"), [((0.05, 0.02, 0.1), "float32"), ((0.5, 0.5, 3.5), "rational")])
def test_products_of_tensors_are_exact(scales: tuple[float, float, float], exact: str) -> None:
    x, w, y = (float(np.float32(scale)) for scale in scales)
    before = Requant(scale=(0.1,), zero_point=0, low=-128, high=127, stored=StoredScales(x=x, w=(w,), y=y))
    attributes: dict[str, Attribute] = {"a_zero_point": 3, "b_zero_point": -5, "requant": before}
    values = np.arange(-128, 128, dtype=np.int8)
    inputs = [values.reshape(-1, 1), values]
    answer = ONNX.declared(site_of(QMUL, inputs, attributes))
    assert not isinstance(answer, str)
    site = site_of(QMUL, inputs, {**attributes, **answer})
    assert isinstance(made(answer["requant"]).rounding, Rational) == (exact == "rational")
    (found,) = QMUL.reference(site, inputs)
    ratio = Fraction(x) * Fraction(w) / Fraction(y)
    for a in range(-128, 128, 9):
        for b in range(-128, 128, 5):
            assert found[a + 128, b + 128] == min(max(round(ratio * ((a - 3) * (b + 5))), -128), 127)


def test_a_mean_over_fourteen_is_rational() -> None:
    before = Requant(scale=(1 / 14,), zero_point=0, low=-128, high=127, stored=StoredScales(x=0.5, y=0.5, terms=(14,)))
    attributes: dict[str, Attribute] = {"axes": (1,), "keepdims": 0, "requant": before}
    answer = ONNX.declared(site_of(QREDUCE_MEAN, [image(3, 14)], attributes))
    assert not isinstance(answer, str)
    assert made(answer["requant"]).rounding == Rational(numerator=(1,), denominator=(14,))


@pytest.mark.parametrize(("pads", "counted"), [((0, 0, 0, 0), {28}), ((1, 0, 1, 0), {14, 28, 42})])
def test_pools_are_exact_for_the_counts_that_they_have(pads: tuple[int, ...], counted: set[int]) -> None:
    """A window of whole rows of 14 elements, of which the padding takes some away."""
    x = image(1, 2, 2, 14) if counted == {28} else image(1, 2, 3, 14)
    kernel = (2, 14) if counted == {28} else (3, 14)
    counts = tuple(range(1, kernel[0] * 14 + 1))
    stored = StoredScales(x=0.5, y=0.5, terms=counts)
    before = Requant(scale=(0.1,) * len(counts), zero_point=0, low=-128, high=127, stored=stored)
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": (1, 1), "dilations": (1, 1), "pads": pads, "ceil_mode": 0, "requant": before,
    }  # fmt: skip
    answer = ONNX.declared(site_of(QAVERAGE_POOL, [x], attributes))
    assert not isinstance(answer, str)
    found = made(answer["requant"])
    assert (len(found.scale), found.stored) == (len(counts), stored)
    site = site_of(QAVERAGE_POOL, [x], {**attributes, **answer})
    (pooled,) = QAVERAGE_POOL.reference(site, [x])
    rows = pooled.shape[2]
    for channel, row in np.ndindex(2, rows):
        top = row - pads[0]
        window = x[0, channel, max(top, 0) : top + kernel[0]].astype(int)
        assert window.size in counted
        assert pooled[0, channel, row, 0] == round(Fraction(int(window.sum()), window.size))
    again = ONNX.declared(site)
    assert again == {"requant": found}


def test_without_stored_scales_there_is_nothing_to_begin_with() -> None:
    attributes: dict[str, Attribute] = {"requant": Requant(scale=(0.5,), zero_point=0, low=0, high=9)}
    assert "not known" in str(ONNX.declared(site_of(QMUL, [image(2), image(2)], attributes)))
