"""Knows in which form a layer's requantisation is stored: proved multiply-add-shift, or exact float, per channel.
Does not know how forms are found (`proof`) or written in C (`operators/requant.h`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.arithmetic.proof import MultiplierProof, prove
from tilewright.errors import model_error
from tilewright.ir.tensors.requant import Requant

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


_MOST_STEPS = 2**10  # between the limits of what is tried: one multiplier hardly meets all thresholds of 16 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRange:
    """Channels `first` to `last`, both included, that share a form."""

    first: int
    last: int
    proved: bool

    def __str__(self) -> str:
        channels = str(self.first) if self.first == self.last else f"{self.first}..{self.last}"
        return f"{channels} {'proved fixed-point' if self.proved else 'exact float'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequantForm:
    """`shift` and one int32 word per channel: the multiplier where it is proved (then the word is not negative),
    else the bits of the float32 scale with the sign bit set."""

    shift: int  # 1 to 62, shared by the layer
    words: tuple[int, ...]

    @property
    def proved(self) -> tuple[bool, ...]:
        """Which channels use the multiply-add-shift."""
        return tuple(word >= 0 for word in self.words)

    def ranges(self) -> Iterator[ChannelRange]:
        """The channels, cut where the form changes."""
        first = 0
        for proved, group in groupby(self.proved):
            last = first + len(tuple(group)) - 1
            yield ChannelRange(first=first, last=last, proved=proved)
            first = last + 1

    def array(self) -> npt.NDArray[np.int32]:
        """The words as a constant of the program."""
        import numpy as np

        return np.asarray(self.words, np.int32)

    def __str__(self) -> str:
        return f"channels {'; '.join(str(part) for part in self.ranges())}"


def requant_form(requant: Requant, bounds: AccumulatorBounds, where: str) -> RequantForm:
    """The form of one layer; `bounds` has one entry per channel. `where` is the node's name.

    Raises TW3102 where a scale is negative, infinite or NaN.
    """
    bad = [scale for scale in requant.scale if not (math.isfinite(scale) and scale >= 0)]
    if bad:
        raise model_error(
            "TW3102",
            f"a requantisation scale is {bad[0]!r}; it must be finite and not negative",
            where=where,
            fix=("quantise the model again: the scales of this node's tensors are not usable",),
        )
    return _form(requant, bounds.lowest, bounds.highest)


@lru_cache(maxsize=4096)
def _form(requant: Requant, lowest: tuple[int, ...], highest: tuple[int, ...]) -> RequantForm:
    """Cached, because binding, packing, reports and calls all ask for the same layer."""
    import numpy as np

    unproved = MultiplierProof(shift=1, multipliers=(None,) * len(lowest))
    proof = unproved if requant.high - requant.low > _MOST_STEPS else prove(requant, lowest, highest)
    scales = np.asarray(requant.scales(len(lowest)), np.float32)
    exact = (scales.view(np.uint32) | np.uint32(2**31)).view(np.int32)
    words = (int(bits) if m is None else m for m, bits in zip(proof.multipliers, exact, strict=True))
    return RequantForm(shift=proof.shift, words=tuple(words))
