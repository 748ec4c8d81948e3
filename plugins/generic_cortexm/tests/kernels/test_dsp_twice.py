"""A product that is rounded twice on the DSP extension: instruction by instruction what the rounding is, in 32 bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.graph import DoubleRounding, Requant, requantise
from tilewright.api.kernel import AccumulatorBounds
from tilewright_cortexm.kernels.dsp_twice import TwiceForm, twice_form


def bounds(*reach: int) -> AccumulatorBounds:
    low = tuple(-each for each in reach)
    return AccumulatorBounds(lowest=low, highest=reach, partial_lowest=low, partial_highest=reach)


def word(value: int) -> int:
    assert -(2**31) <= value < 2**31
    return value


def executed(form: TwiceForm, channel: int, acc: int) -> int:
    """What the assembler computes before it clamps; every register holds its value."""
    multiplier, above, amount = form.multipliers[channel], form.addends[channel], form.amounts[channel]
    if form.shift:
        return word(word(above) + ((word(acc << amount) * multiplier) >> 32)) >> form.shift  # LSL, SMMLA, SSAT
    high = (word(acc << 1) * multiplier + 2**31) >> 32  # LSL, SMMULR
    return word(high + (high >> 31) + word(above)) >> amount  # ADD, ADD, ASR


@given(
    scales=st.lists(st.floats(2.0**-30, 0.45), min_size=1, max_size=4),
    reach=st.sampled_from([127, 16129, 10**6, 10**9]), zero_point=st.integers(-128, 127),
    relu=st.booleans(), data=st.data(),
)  # fmt: skip
def test_every_sum_is_the_rounding(
    scales: list[float], reach: int, zero_point: int, relu: bool, data: st.DataObject
) -> None:
    low = zero_point if relu else -128
    requant = Requant(scale=tuple(scales), zero_point=zero_point, low=low, high=127, rounding=DoubleRounding())
    form = twice_form(requant, bounds(*([reach] * len(scales))))
    if isinstance(form, str):
        assert "zero point" in form
        return
    assert relu or zero_point == -128 or not form.shift
    halves = [round((k + 0.5) / scale) for scale in scales for k in (-3, -1, 0, 2)]
    drawn = data.draw(st.lists(st.integers(-reach, reach), max_size=20))
    for acc in [-reach, reach, -1, 0, 1, *drawn, *(min(max(half, -reach), reach) for half in halves)]:
        wanted = requantise(np.full(len(scales), acc, np.int64), requant, 0)
        assert [min(max(executed(form, c, acc), low), 127) for c in range(len(scales))] == wanted.tolist(), acc


def test_one_shift_for_all_channels_where_results_end_at_the_zero_point() -> None:
    relu = Requant(scale=(0.01, 0.3, 0.0), zero_point=-128, low=-128, high=127, rounding=DoubleRounding())
    form = twice_form(relu, bounds(10**5, 10**5, 10**5))
    assert isinstance(form, TwiceForm)
    assert form.shift == 7 and form.amounts == (2, 7, 0) and form.more == 1
    assert form.of_block(range(2)) == [
        *form.multipliers[:1],
        form.addends[0],
        form.multipliers[1],
        form.addends[1],
        2,
        7,
    ]


def test_sums_that_would_leave_the_register_are_shifted_behind() -> None:
    relu = Requant(scale=(2.0**-12, 0.3), zero_point=-128, low=-128, high=127, rounding=DoubleRounding())
    form = twice_form(relu, bounds(10**8, 10**8))
    assert isinstance(form, TwiceForm)
    assert form.shift == 0 and form.more == 4


def test_a_channel_without_weights_has_its_result_whatever_its_sum() -> None:
    scales, ends = (
        (2.0**-26, 0.01),
        AccumulatorBounds(lowest=(2**30, -1000), highest=(2**30, 1000), partial_lowest=(0, 0), partial_highest=(0, 0)),
    )
    for low in (-128, 3):
        requant = Requant(scale=scales, zero_point=3, low=low, high=127, rounding=DoubleRounding())
        form = twice_form(requant, ends)
        assert isinstance(form, TwiceForm)
        assert form.multipliers[0] == 0 and executed(form, 0, 77) == 19
        assert form.results(np.array([7, 500], np.int64), requant).tolist() == [19, 8]


def test_what_has_no_form_says_why() -> None:
    def reason(scale: float, reach: int, zero_point: int = 3) -> str:
        one = Requant(scale=(scale,), zero_point=zero_point, low=-128, high=127, rounding=DoubleRounding())
        return str(twice_form(one, bounds(reach)))

    assert "shifts to the right" in reason(1.5, 100)
    assert "rounded once" in reason(0.9, 100)
    assert "doubles them" in reason(0.1, 2**30)
    assert "zero point" in reason(2.0**-26, 2**29, 127)
