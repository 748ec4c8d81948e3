"""Knows how Helium takes weights of 4 bits of two channels apart: bytes as `dsp_nibbles` has them, but for a channel
alone, whose lower nibbles are zero. Does not know blocks.

The upper channel's sum needs nothing of the column: it is a difference. It stays 16 times too large where the formula
`onnx` multiplies floats: its scale is a sixteenth, exactly. The lower channels' part of the column is added at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Words = npt.NDArray[np.int32]

_LEAST = 2.0**-120  # a scale of which a sixteenth has all its bits


def refused_scales(words: Words, *, floats: bool) -> str | None:
    """Why scales have no exact sixteenth, or None."""
    if not floats or float(words[0].view(np.float32).min()) >= _LEAST:
        return None
    return "a scale is too small for a sixteenth of it"


def nibble_scales(words: Words, pairs: Iterable[range], *, floats: bool) -> Words:
    """The words of all channels; of those whose sums stay 16 times too large, a sixteenth of the scale."""
    result = words.copy()
    if floats:
        upper = [pair[-1] for pair in pairs]
        result[0, upper] = (result[0, upper].view(np.float32) * np.float32(1 / 16)).view(np.int32)
    return result
