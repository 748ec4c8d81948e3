"""What multiplies, adds and shifts on the DSP extension: SMMLA and SSAT give what the numbers do, in 32 bits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tilewright_cortexm.kernels.dsp_shift import own_shifts, shared_shift
from tilewright_cortexm.kernels.dsp_twice import TwiceForm
from tilewright_cortexm.kernels.shifts import ShiftNumbers


def word(value: int) -> int:
    assert -(2**31) <= value < 2**31
    return value


def numbers(*each: tuple[int, int, int], reach: int = 10**5) -> list[ShiftNumbers]:
    return [ShiftNumbers(multiplier=m, addend=a, shift=s, reach=reach) for m, a, s in each]


def wanted(one: ShiftNumbers, acc: int, zero_point: int) -> int:
    return ((acc * one.multiplier + one.addend) >> one.shift) + zero_point


CHANNEL = st.tuples(st.integers(0, 900), st.integers(-(2**22), 2**22), st.integers(5, 20))


@given(each=st.lists(CHANNEL, min_size=1, max_size=4), zero_point=st.integers(-128, 127), data=st.data())
def test_channels_of_their_own_are_exact(
    each: list[tuple[int, int, int]], zero_point: int, data: st.DataObject
) -> None:
    reach = data.draw(st.sampled_from([127, 10**5, 2**21]))
    given_numbers = numbers(*each, reach=reach)
    form = own_shifts(given_numbers, zero_point)
    if isinstance(form, str):
        return
    for acc in [-reach, reach, -1, 0, 1, *data.draw(st.lists(st.integers(-reach, reach), max_size=20))]:
        for c, one in enumerate(given_numbers):
            upper = (word(acc << form.amounts[c]) * word(form.multipliers[c])) >> 32
            assert word(word(form.addends[c]) + upper) >> form.shift == wanted(one, acc, zero_point), (acc, one)


@given(
    multipliers=st.lists(st.integers(1, 900), min_size=1, max_size=4), zero_point=st.integers(-128, 127),
    shift=st.integers(5, 24), data=st.data(),
)  # fmt: skip
def test_shared_addends_are_exact(multipliers: list[int], zero_point: int, shift: int, data: st.DataObject) -> None:
    given_numbers = numbers(*((m, 1 << (shift - 1), shift) for m in multipliers))
    form = shared_shift(given_numbers, zero_point)
    if form is None:
        assert shift < 2 + max(multipliers).bit_length() or 128 << shift > 2**31 - 2**30
        return
    for acc in [-(10**5), 10**5, -1, 0, 1, *data.draw(st.lists(st.integers(-(10**5), 10**5), max_size=20))]:
        for c, one in enumerate(given_numbers):
            total = word(form.above + ((acc * word(form.words[c])) >> 32))
            assert total >> form.shift == wanted(one, acc, zero_point)


def test_the_networks_of_the_pulp_world_need_one_word_a_channel() -> None:
    form = shared_shift(numbers((514, 1 << 15, 16), (257, 1 << 15, 16)), 0)
    assert form is not None and form.shift == 5 and form.above == 16
    assert form.words == (514 << 21, 257 << 21)
    own = own_shifts(numbers((50, 8192 + 77, 14), (5, 8192, 14)), 0)
    assert isinstance(own, TwiceForm) and own.shift == 14 and own.addends == (8268, 8192)  # 50 is even
    assert own.described() == {"channels": 2, "rounding": "multiply-shift"}


def test_what_has_no_form_says_why() -> None:
    assert "more bits" in str(own_shifts(numbers((900, 0, 3), reach=2**29), 0))
    assert "lost" in str(own_shifts(numbers((901, 1, 20), reach=2**29), 0))
    assert shared_shift(numbers((3, 1, 12), (3, 2, 12)), 0) is None
