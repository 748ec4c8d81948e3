"""Sums of two scaled bytes: the definition beside fractions, the integer form beside the definition, pair by pair."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.arithmetic.scaled_sum import ScaledSum, SumForm, exact_factors, scaled_sum, sum_form
from tilewright.errors import Exit, TilewrightError

BYTES = (-128, 127)
few = settings(max_examples=40, deadline=None)
scales = st.one_of(
    st.floats(2.0**-12, 8.0, width=32), st.sampled_from([0.5, 0.75, 1.5, 2.0**-24, 3 * 2.0**-20, 0.0])
)  # fmt: skip


@st.composite
def totals(draw: st.DrawFn) -> ScaledSum:
    low, high = draw(st.sampled_from([(-128, 127), (0, 255), (0, 127), (-20, 90)]))
    a, b = (draw(scales) * draw(st.sampled_from([1, -1])) for _ in range(2))
    zero_points = [draw(st.sampled_from([0, 3, -128, 127])) for _ in range(2)]
    return ScaledSum(
        a_scale=a, b_scale=b, a_zero_point=zero_points[0], b_zero_point=zero_points[1],
        zero_point=draw(st.sampled_from([low, high, 1])), low=low, high=high,
        y_scale=draw(st.one_of(st.just(1.0), st.floats(2.0**-6, 4.0, width=32), st.sampled_from([1.5, 0.375]))),
    )  # fmt: skip


def by_fractions(total: ScaledSum, a: int, b: int) -> int:
    real = Fraction(total.a_scale) * (a - total.a_zero_point) + Fraction(total.b_scale) * (b - total.b_zero_point)
    return min(
        max(round(real / Fraction(total.y_scale)) + total.zero_point, total.low), total.high
    )  # Fraction rounds halves to even


def computed(form: SumForm, total: ScaledSum, a: int, b: int) -> int:
    """What C does with a form, and that it stays below a quarter of its width on the way."""
    products = a * form.a_factor, b * form.b_factor
    v = sum(products) + form.offset
    if form.divisor:
        assert max(map(abs, (*products, sum(products), v))) + form.divisor < 2**62
        return min(max(round(Fraction(v, form.divisor)) + total.zero_point, total.low), total.high)
    bias = ((1 << (form.shift - 1)) - 1 + ((v >> form.shift) & 1)) if form.ties else 0
    assert max(map(abs, (*products, sum(products), v, v + bias))) < 2 ** (form.bits - 2)
    return min(max(((v + bias) >> form.shift) + total.zero_point, total.low), total.high)


@few
@given(total=totals())
def test_factors_are_the_scales(total: ScaledSum) -> None:
    a, b, divisor = exact_factors(total)
    y = Fraction(total.y_scale)
    assert (Fraction(a, divisor), Fraction(b, divisor)) == (Fraction(total.a_scale) / y, Fraction(total.b_scale) / y)
    assert divisor % 2 == 0


@few
@given(total=totals(), a=st.integers(*BYTES), b=st.integers(*BYTES))
def test_the_definition(total: ScaledSum, a: int, b: int) -> None:
    found = scaled_sum(total, np.array([[a]], np.int8), np.array([b, b], np.int8))
    assert found.tolist() == [[by_fractions(total, a, b)] * 2]


def test_the_definition_where_64_bits_are_not_enough() -> None:
    """The two numbers are 2**80 apart, and the small one decides on which side of a half the sum is."""
    total = ScaledSum(
        a_scale=0.5, b_scale=2.0**-80, a_zero_point=0, b_zero_point=0, zero_point=0, low=-128, high=127
    )  # fmt: skip
    found = scaled_sum(total, np.array([[1], [3]], np.int8), np.array([-1, 0, 1], np.int8))
    assert found.tolist() == [[0, 0, 1], [1, 2, 2]]
    assert sum_form(total, BYTES, BYTES) is None


@few
@given(total=totals(), data=st.data())
def test_a_form_is_equal_for_every_pair(total: ScaledSum, data: st.DataObject) -> None:
    ranges = []
    for _ in range(2):
        low = data.draw(st.integers(-128, 120))
        ranges.append((low, data.draw(st.integers(low, min(low + 12, 127)))))
    form = sum_form(total, *ranges)
    assert form is not None and form.bits in (32, 64) and form.shift < form.bits - 2
    for a in range(ranges[0][0], ranges[0][1] + 1):
        for b in range(ranges[1][0], ranges[1][1] + 1):
            assert computed(form, total, a, b) == by_fractions(total, a, b)


PLAIN = ScaledSum(a_scale=0.5, b_scale=0.25, a_zero_point=5, b_zero_point=-128, zero_point=-7, low=-128, high=127)
ROOT, PI = float(np.float32(0.70710678)), float(np.float32(0.31830989))


@pytest.mark.parametrize(("a_scale", "b_scale", "bits", "ties"), [
    (0.5, 0.25, 32, True),
    (2.0, 3.0, 32, False),  # whole numbers never fall on a half
    (2.0**-30, 1.0, 32, False),  # too far apart for 32 bits as they are: a form nearby, proved
    (ROOT, PI, 32, False),
    (float(np.float32(0.7)), float(np.float32(0.41)), 64, False),  # many sums within 1e-6 of a half
    (2.0**-50, 0.5, 64, True),
])  # fmt: skip
def test_the_cheapest_form_is_taken(a_scale: float, b_scale: float, bits: int, ties: bool) -> None:
    form = sum_form(replace(PLAIN, a_scale=a_scale, b_scale=b_scale), BYTES, BYTES)
    assert form is not None and (form.bits, form.ties) == (bits, ties)


def test_halves_that_go_up_and_down_at_a_ratio_of_thirds_are_divided() -> None:
    total = replace(PLAIN, a_scale=0.25, b_scale=0.5, y_scale=1.5)
    form = sum_form(total, BYTES, BYTES)
    assert form is not None and form.divisor == 6
    found = {(a, b): computed(form, total, a, b) for a in range(-128, 128, 5) for b in range(-128, 128, 3)}
    assert all(value == by_fractions(total, *pair) for pair, value in found.items())


def test_ratios_of_stored_scales_are_not_rounded() -> None:
    """0.05 / 0.08 and 0.07 / 0.08 are close to eighths, where the stored scales decide what a half becomes."""
    a_scale, b_scale, y_scale = (float(np.float32(scale)) for scale in (0.05, 0.07, 0.08))
    total = replace(PLAIN, a_scale=a_scale, b_scale=b_scale, y_scale=y_scale)
    rounded = replace(
        PLAIN, a_scale=float(np.float32(a_scale / y_scale)), b_scale=float(np.float32(b_scale / y_scale))
    )  # fmt: skip
    a, b = np.arange(-128, 128)[:, None], np.arange(-128, 128)
    exact = scaled_sum(total, a, b)
    assert all(exact[x, y] == by_fractions(total, x - 128, y - 128) for x in range(0, 256, 7) for y in range(256))
    assert np.mean(exact != scaled_sum(rounded, a, b)) > 0.02
    form = sum_form(total, BYTES, BYTES)
    assert form is not None and form.divisor, "2 * 0.07 - 2 * 0.05 is half of 0.08, as they are stored"
    apart = sum_form(replace(total, y_scale=float(np.float32(0.0811))), BYTES, BYTES)
    assert apart is not None and not apart.divisor, "scales as training leaves them"


def test_forms_nearby_are_proved_on_every_pair() -> None:
    """Scales of 24 bits do not fit 32: a rounded factor and an offset with little room on both sides."""
    rng, a, b = np.random.default_rng(0), np.arange(-128, 128)[:, None], np.arange(-128, 128)
    narrow = 0
    for _ in range(60):
        scales = (float(np.float32(scale)) for scale in rng.uniform(0.2, 1.0, 2))
        total = replace(PLAIN, a_scale=next(scales), b_scale=next(scales))
        form = sum_form(total, BYTES, BYTES)
        assert form is not None and not form.ties
        v = (a * form.a_factor + b * form.b_factor + form.offset) >> form.shift
        assert np.array_equal(np.clip(v + total.zero_point, -128, 127), scaled_sum(total, a, b))
        narrow += form.bits == 32
    assert narrow > 20


@pytest.mark.parametrize("scale", [math.inf, -math.inf, math.nan])
def test_scales_that_are_no_numbers(scale: float) -> None:
    with pytest.raises(TilewrightError, match=f"scales 0.5 and {scale!r} to a result of scale 1.0") as caught:
        exact_factors(replace(PLAIN, b_scale=scale))
    assert (caught.value.code, caught.value.exit_code) == ("TW3103", Exit.UNSUPPORTED)


WORDS = (-(2**15), 2**15 - 1)


@pytest.mark.parametrize("y_scale", [1.0, 1.5, float(np.float32(9.1e-4)), float(np.float32(0.3))])
@pytest.mark.parametrize("scales", [(3.1e-4, 5.3e-4), (0.25, -0.75), (1e-5, 0.11)])
def test_sums_of_16_bits_are_exact_without_going_through_all_pairs(scales: tuple[float, float], y_scale: float) -> None:
    a_scale, b_scale = (float(np.float32(scale)) for scale in scales)
    total = ScaledSum(
        a_scale=a_scale, b_scale=b_scale, a_zero_point=0, b_zero_point=-7, zero_point=3, low=WORDS[0], high=WORDS[1],
        y_scale=y_scale, wide=True,
    )  # fmt: skip
    form = sum_form(total, WORDS, WORDS)
    assert form is not None and form.bits in (32, 64)
    rng = np.random.default_rng(1)
    pairs = [*rng.integers(*WORDS, (400, 2)).tolist(), WORDS, (WORDS[0], WORDS[0]), (0, 0), (1, -1)]
    for a, b in pairs:
        assert (
            computed(form, total, a, b) == by_fractions(total, a, b) == int(scaled_sum(total, np.array(a), np.array(b)))
        )


def test_halves_of_16_bits_go_to_even() -> None:
    total = ScaledSum(
        a_scale=0.5, b_scale=0.25, a_zero_point=0, b_zero_point=0, zero_point=0, low=WORDS[0], high=WORDS[1], wide=True
    )  # fmt: skip
    form = sum_form(total, WORDS, WORDS)
    assert form is not None and form.ties
    assert [computed(form, total, a, 0) for a in (1, 3, -1, -3)] == [0, 2, 0, -2]
