"""Requantisation in SMMLA and SSAT: exactly the proved multiply-add-shift, and the formula where nothing is proved."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.graph import Requant, requantise
from tilewright.api.kernel import AccumulatorBounds
from tilewright.arithmetic.requant_form import requant_form
from tilewright_cortexm.kernels.dsp_requant import dsp_form

ENDS = ((-128, 127), (0, 255), (-100, 90))


def bounds(reach: int, channels: int = 1) -> AccumulatorBounds:
    ends = {"lowest": (-reach,) * channels, "highest": (reach,) * channels}
    return AccumulatorBounds(**ends, partial_lowest=(-reach,) * channels, partial_highest=(reach,) * channels)


@given(
    scale=st.floats(2.0**-45, 8.0, width=32), reach=st.sampled_from([127, 16129, 10**7, 2**31 - 1]),
    limits=st.sampled_from(ENDS), at=st.integers(0, 2), data=st.data(),
)  # fmt: skip
def test_two_instructions_are_the_exact_formula_and_stay_in_32_bits(
    scale: float, reach: int, limits: tuple[int, int], at: int, data: st.DataObject
) -> None:
    zero_point = (limits[0], limits[1], 3)[at]
    requant = Requant(scale=(scale,), zero_point=zero_point, low=limits[0], high=limits[1])
    form = dsp_form(requant, requant_form(requant, bounds(reach), "n"))
    if form.exact.all():
        assert form.words[0] < 0
        return
    accumulators = [-reach, reach, 0, *data.draw(st.lists(st.integers(-reach, reach), max_size=20))]
    for acc in accumulators:
        word = form.above + ((acc * form.words[0]) >> 32)  # SMMLA
        assert -(2**31) <= word < 2**31
        found = min(max(word >> form.shift, limits[0]), limits[1])  # SSAT
        (wanted,) = requantise(np.array([acc], np.int64), requant, 0)
        assert found == wanted, acc
        assert form.results(np.array([acc], np.int64), requant).tolist() == [wanted]


def test_channels_that_are_computed_together_share_one_branch() -> None:
    scales = (0.01, 0.0, 0.02, 3e38)
    requant = Requant(scale=tuple(float(np.float32(scale)) for scale in scales), zero_point=1, low=-128, high=127)
    proved = requant_form(requant, bounds(10**6, 4), "n")
    alone, pairs = dsp_form(requant, proved), dsp_form(requant, proved, [range(2), range(2, 4)])
    assert not alone.exact[:3].any() or alone.exact.any()
    for channels in (slice(0, 2), slice(2, 4)):
        assert set(pairs.exact[channels]) == {bool(alone.exact[channels].any())}


def test_equal_labels_mean_equal_code() -> None:
    one = Requant(scale=(0.01,), zero_point=1, low=-128, high=127)
    form = dsp_form(one, requant_form(one, bounds(1000), "n"))
    assert form.label(one) != form.label(Requant(scale=(0.01,), zero_point=1, low=-100, high=127))
    assert "-" not in form.label(one) and form.names(one)["requantise"] == f"tw_dsp_requantise_{form.label(one)}"
