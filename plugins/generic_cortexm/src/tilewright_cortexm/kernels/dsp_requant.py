"""Knows the form of requantisation that the DSP extension has in two instructions, and which channels have it.
Does not know layers.

SMMLA adds the upper half of `acc * multiplier` to a word, SSAT shifts that and clamps it: with a shift S above 32 and
the word `(zero_point << (S - 32)) + (1 << (S - 33))` this is exactly the proved `(acc * multiplier + half) >> S`,
because dropping the lower half and then shifting is one shift.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api.graph import Requant, requantise
from tilewright.api.kernel import AccumulatorBounds, CodeFragments, RequantForm
from tilewright_cortexm.kernels.dsp_shift import own_shifts, shared_shift
from tilewright_cortexm.kernels.dsp_twice import TWICE, TwiceForm, twice_form
from tilewright_cortexm.kernels.shifts import (
    ShiftNumbers,
    divides,
    multiplies_and_shifts,
    quotient_numbers,
    shift_numbers,
)
from tilewright_cortexm.kernels.sources import c_template, limits_name, narrowed

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    Flags = npt.NDArray[np.bool_]
    Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class DspForm:
    """`words` hold the multiplier, or the scale's bits with the sign bit set where the exact formula is used."""

    shift: int  # of the upper half
    words: tuple[int, ...]
    above: int
    stored = 1  # words of a channel beside its bias

    @property
    def exact(self) -> Flags:
        """Which channels use the formula."""
        return np.asarray(self.words) < 0

    @property
    def more(self) -> float:
        """Instructions of a result beyond those of a proved multiplier: 6 where the formula is used."""
        return 6 * float(self.exact.mean())

    def of_block(self, channels: range) -> list[int]:
        """The words of channels that are computed together."""
        return list(self.words[channels.start : channels.stop])

    def only(self, zero_point: int) -> tuple[int, int, int]:
        """What `requantise` is given beside a sum, where there is one channel."""
        return self.words[0], self.above, zero_point

    def results(self, accumulators: Integers, requant: Requant) -> Integers:
        """What one accumulator of each channel becomes, by the form that the channel has."""
        upper = (accumulators * np.asarray(self.words, np.int64)) >> 32
        shifted = np.clip((self.above + upper) >> self.shift, requant.low, requant.high)
        return np.where(self.exact, requantise(accumulators, requant, 0), shifted)

    def names(self, requant: Requant) -> dict[str, object]:
        """What C templates are given: which forms occur, the shift, the limits, and a function that does it all."""
        return {
            "fixed": not self.exact.all(),
            "exact": bool(self.exact.any()),
            "twice": False,
            "shift": self.shift,
            "low": requant.low,
            "high": requant.high,
            "end": f"{self._forms().upper()}_{limits_name(requant.low, requant.high)}",
            "requantise": f"tw_dsp_requantise_{self.label(requant)}",
        }

    def label(self, requant: Requant) -> str:
        """Part of a C name: code of equal labels is the same."""
        return f"{self._forms()}{self.shift}_{requant.low}_{requant.high}".replace("-", "m")

    def described(self) -> dict[str, object]:
        """What reports say."""
        return {"channels": len(self.words), "exact": int(self.exact.sum())}

    def _forms(self) -> str:
        return f"{'' if self.exact.all() else 'f'}{'x' if self.exact.any() else ''}"


_REQUANTISE = c_template("${requantise}", "dsp_requantise.c.mako")
_TWICE = c_template("${requantise}", "dsp_requantise_twice.c.mako")
AnyForm = DspForm | TwiceForm


def requantiser(values: Mapping[str, Any]) -> CodeFragments:
    """The function `requantise` of `DspForm.names`, and what it calls."""
    low, high = values["low"], values["high"]
    shifted, shift = narrowed(values["shift"], low, high)
    if values["twice"]:
        return (TWICE, shift, _TWICE.of(narrowed=shifted))
    rounded, clamp = narrowed(0, low, high)
    used = (*([shift] if values["fixed"] else []), *([clamp] if values["exact"] else []))
    return (*used, _REQUANTISE.of(shifted=shifted, rounded=rounded))


def dsp_form(requant: Requant, form: RequantForm, together: Iterable[range] = ()) -> DspForm:
    """The form of a layer. Channels of a range in `together` share one branch: all are exact where one is."""
    usable = form.shift > 32
    exact = ~np.asarray(form.proved) if usable else np.ones(len(form.words), bool)
    for channels in together:
        part = slice(channels.start, channels.stop)
        exact[part] = exact[part].any()
    scales = np.asarray(requant.scales(len(form.words)), np.float32)
    bits = (scales.view(np.uint32) | np.uint32(2**31)).view(np.int32)
    shift = form.shift - 32 if usable and not exact.all() else 0
    return DspForm(
        shift=shift,
        words=tuple(int(word) for word in np.where(exact, bits, np.asarray(form.words, np.int32))),
        above=(requant.zero_point << shift) + (1 << shift >> 1),
    )


def any_form(
    requant: Requant, form: RequantForm | None, bounds: AccumulatorBounds, together: Iterable[range] = ()
) -> AnyForm | str:
    """The form of a layer of any rounding; `form` is that of `onnx`. Or why there is none."""
    if form is not None:
        return dsp_form(requant, form, together)
    if divides(requant):
        return _shift_form(requant, quotient_numbers(requant, bounds))
    if multiplies_and_shifts(requant):
        return _shift_form(requant, shift_numbers(requant, bounds))
    return twice_form(requant, bounds)


def _shift_form(requant: Requant, numbers: list[ShiftNumbers] | str) -> AnyForm | str:
    if isinstance(numbers, str):
        return numbers
    shared = shared_shift(numbers, requant.zero_point)
    if shared is None:
        return own_shifts(numbers, requant.zero_point)
    return DspForm(shift=shared.shift, words=shared.words, above=shared.above)


def described(form: AnyForm, proved: RequantForm | None) -> dict[str, object]:
    """What reports say; `proved` is the form of `onnx` that portable C has."""
    return form.described() | ({} if proved is None else {"proved": sum(proved.proved)})
