"""Products against sums of fractions: every kind of window, in doubles, in 64 bits, and in long integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.comparison.exact.products import MOST_LONG, Windows, convolved, matrix_product, seen, spread
from tilewright.comparison.exact.rationals import NotExact, Rationals, rationals

RANDOM = np.random.default_rng(5)
KINDS = {
    "doubles": lambda *shape: RANDOM.integers(-128, 128, shape),
    "words": lambda *shape: RANDOM.integers(-(2**29), 2**29, shape),
    "long": lambda *shape: RANDOM.standard_normal(shape) * 10.0 ** RANDOM.integers(-9, 9, shape),
}


def window(draw: Any, size: int) -> tuple[int, int, int, int]:
    """Kernel, stride, dilation, begin."""
    kernel, dilation = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    del size
    return kernel, draw(st.integers(1, 3)), dilation, draw(st.integers(0, 2))


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_convolution_is_its_sum(kind: str, data: st.DataObject) -> None:
    groups, size = data.draw(st.integers(1, 2)), data.draw(st.integers(3, 6))
    kernel, stride, dilation, begin = window(data.draw, size)
    outputs = (size + 2 * begin - dilation * (kernel - 1) - 1) // stride + 1
    if outputs < 1:
        return
    x, w = KINDS[kind](2, 2 * groups, size), KINDS[kind](3 * groups, 2, kernel)
    shape = Windows(kernel=(kernel,), strides=(stride,), dilations=(dilation,), begins=(begin,), ends=(begin,))
    found = convolved(rationals(x), rationals(w), shape, (outputs,), groups)
    for image, channel, at in product(range(2), range(3 * groups), range(outputs)):
        total = Fraction(0)
        for inner, tap in product(range(2), range(kernel)):
            place = at * stride - begin + tap * dilation
            if 0 <= place < size:
                factor = Fraction(float(w[channel, inner, tap]))
                total += factor * Fraction(float(x[image, channel // 3 * 2 + inner, place]))
        assert found.at((image, channel, at)) == total


@given(data=st.data())
def test_a_transposed_convolution_spreads_every_element(data: st.DataObject) -> None:
    groups, size = data.draw(st.integers(1, 2)), data.draw(st.integers(2, 4))
    kernel, stride, dilation, begin = window(data.draw, size)
    extra = data.draw(st.integers(0, 2))
    outputs = stride * (size - 1) + dilation * (kernel - 1) + 1 - 2 * begin + extra
    if outputs < 1:
        return
    x, w = RANDOM.standard_normal((1, 2 * groups, size)), RANDOM.standard_normal((2 * groups, 3, kernel))
    shape = Windows(kernel=(kernel,), strides=(stride,), dilations=(dilation,), begins=(begin,), ends=(begin,))
    found = spread(rationals(x), rationals(w), shape, (outputs,), groups)
    expected = np.full((3 * groups, outputs), Fraction(0), object)
    for channel, at, own, tap in product(range(2 * groups), range(size), range(3), range(kernel)):
        place = at * stride + tap * dilation - begin
        if 0 <= place < outputs:
            value = Fraction(float(x[0, channel, at])) * Fraction(float(w[channel, own, tap]))
            expected[channel // 2 * 3 + own, place] += value
    for index in product(range(3 * groups), range(outputs)):
        assert found.at((0, *index)) == expected[index]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("left", "right"), [((3, 4), (4, 2)), ((2, 3, 4), (2, 4, 5)), ((4,), (4, 2)), ((3, 4), (4,))])
def test_matrices(kind: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    one, other = KINDS[kind](*left), KINDS[kind](*right)
    found = matrix_product(rationals(one), rationals(other))
    exact = np.vectorize(lambda value: Fraction(float(value)), otypes=[object])
    expected = np.asarray(np.matmul(exact(one), exact(other)))
    assert found.shape == expected.shape
    assert all(found.at(index) == expected[index] for index in np.ndindex(*expected.shape))


def test_scales_of_channels_leave_small_integers() -> None:
    """A factor for each channel, as that of dequantised weights, which doubles do not hold together with the sums."""
    weights = RANDOM.integers(-127, 128, (4, 2, 3))
    factors = np.array([2**40 + 1, 3**25, 1, 2**45]).reshape(4, 1, 1)
    shape = Windows(kernel=(3,), strides=(1,), dilations=(1,), begins=(0,), ends=(0,))
    x = rationals(RANDOM.integers(-128, 128, (1, 2, 5)))
    plain = convolved(x, rationals(weights), shape, (3,), 1)
    wide = convolved(x, Rationals(numerators=weights * factors), shape, (3,), 1)
    for index in product(range(4), range(3)):
        assert wide.at((0, *index)) == plain.at((0, *index)) * int(factors[index[0], 0, 0])


def test_windows_reach_outside() -> None:
    shape = Windows(kernel=(2,), strides=(2,), dilations=(1,), begins=(1,), ends=(1,))
    found = dict(seen(np.array([1, 2, 3], object), shape, (3,), -9))
    assert {tap: values.tolist() for tap, values in found.items()} == {(0,): [-9, 2, -9], (1,): [1, 3, -9]}


def test_what_takes_minutes_is_refused() -> None:
    count = int(MOST_LONG**0.5) // 40
    long = Rationals(numerators=np.full((count, 2000), 2**40 + 1, np.int64))
    odd = Rationals(numerators=np.arange(2**40, 2**40 + 2000 * count, dtype=np.int64).reshape(2000, count))
    with pytest.raises(NotExact, match="products of long integers"):
        matrix_product(long, odd)
