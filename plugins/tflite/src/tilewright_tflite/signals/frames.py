"""Knows what a frame of sound goes through before its spectrum: a window, and the largest scale that 16 bits hold.
Does not know spectra.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright_tflite.signals.parts import elements, kernel, operator, whole


def _window(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    product = np.asarray(inputs[0], np.int32) * np.asarray(inputs[1], np.int32)
    return (np.clip(product >> site.node.integer("shift"), -(2**15), 2**15 - 1).astype(np.int16),)


def _scaled(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    x = np.asarray(inputs[0], np.int64)
    bits = scale_bits(x.reshape(-1).tolist())
    return (x << bits).astype(np.int16), np.array(bits, np.int32)


def scale_bits(samples: Sequence[int]) -> int:
    """How far samples may be shifted. As in that library, -32768 has the magnitude -32768, so that what comes behind it
    decides alone.
    """
    most = 0
    for sample in samples:
        if sample > most:
            most = sample
        elif -sample > most:
            most = -sample if sample > -(2**15) else sample
    return 15 - most.bit_length() if most > 0 else 0


WINDOW = operator(
    "Window",
    ("X", "W"),
    (("Y", DType.I16),),
    "X * W >> shift, saturated",
    _window,
    ("shift",),
    access=elements(last="W"),
)
SCALE = operator(
    "Scale",
    ("X",),
    (("Y", DType.I16), ("bits", DType.I32)),
    "X shifted to the left as far as 16 bits hold it, and how far",
    _scaled,
    access=whole("X[:]", "Y[:] bits[]"),
    shapes=lambda site: (site.input(0).shape, ()),
)

OPERATORS = (WINDOW, SCALE)
KERNELS = (
    kernel(
        WINDOW,
        '${count}, ${X}${at["X"]}, ${x_step}, ${W}${at["W"]}, ${w_step}, ${Y}${at["Y"]}, ${y_step}, ${shift}',
        words=("shift",),
        elementwise=True,
    ),
    kernel(SCALE, "${count}, ${X}, ${x_step}, ${Y}, ${y_step}, ${bits}", in_place=True),
)
