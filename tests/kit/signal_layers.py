"""Layers of signal operators for tests: all that 16 and 32 bits hold, each operator at least once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tilewright.api.testing import Sample
from tilewright_tflite.signals.transforms import complex_twiddles, real_twiddles

RANDOM = np.random.default_rng(7)
WORDS = RANDOM.integers(-32768, 32768, 60).astype(np.int16)
LONG = RANDOM.integers(0, 2**32, 9, np.uint32)
SMALL = (LONG >> (4 * np.arange(9))).astype(np.uint32)  # down to nothing
SMOOTHING = {
    "smoothing": 655, "rest": 15729, "smoothing_odd": 983, "rest_odd": 15401, "least": 819, "bits": 10,
    "scale_bits": 14, "clamp": 1,
}  # fmt: skip


def transform(name: str, length: int, kind: str = "int16", rows: int = 0) -> tuple[Any, ...]:
    """RFFT of one sample less than there may be, or IRFFT; the end of the scale among them."""
    turn, count = (1, length - 1) if name == "RFFT" else (-1, length + 2)
    shape = (rows, count) if rows else (count,)
    if kind == "float32":
        x = RANDOM.standard_normal(shape).astype(kind)
    else:
        least, most = np.iinfo(kind).min, np.iinfo(kind).max
        x = np.where(np.arange(count) % 7, RANDOM.integers(least, most + 1, shape), least).astype(kind)
    tables = [make(length // 2, turn, kind) for make in (complex_twiddles, real_twiddles)]
    return name, [x, *tables], {}, (1, 2)


CASES = [
    ("Window", [WORDS.reshape(2, 30), WORDS[:30]], {"shift": 12}, (1,)),
    ("Scale", [WORDS // 900], {}, ()),
    ("Scale", [np.array([5, -32768, 3, -700], np.int16)], {}, ()),
    *(transform(name, length) for name in ("RFFT", "IRFFT") for length in (4, 8, 16, 128)),
    *(transform(name, 32, kind, 3) for name in ("RFFT", "IRFFT") for kind in ("int16", "int32", "float32")),
    ("Energy", [np.array([-32768, -32768, 3, 4, 5, 6], np.int16)], {"first": 0, "end": 2}, ()),
    (
        "FilterBank",
        [LONG, *(np.array(each, np.int16) for each in ([1, 3, -3], [3, 1, 7], [0, 1, 7], [0, 1, 1], [1, 1, 2]))],
        {},
        (1, 2, 3, 4, 5),
    ),
    ("SquareRoot", [LONG.astype(np.uint64) ** 2 + 5, np.array(3, np.int32)], {}, ()),
    ("SquareRoot", [np.array([0, 1, 2, 3, 2**32 - 1, 2**32, 2**64 - 1], np.uint64), np.array(0, np.int32)], {}, ()),
    ("SpectralSubtraction", [LONG, LONG[::-1].copy()], SMOOTHING, ()),
    ("SpectralSubtraction", [LONG >> 20, LONG >> 8], {**SMOOTHING, "clamp": 0}, ()),
    ("PCAN", [LONG >> 8, SMALL, RANDOM.integers(-32768, 32768, 125).astype(np.int16)],
     {"snr_shift": 6}, (2,)),
    ("Log", [SMALL], {"bits": 2, "scale": 1600}, ()),
]  # fmt: skip


def signal_layers() -> Iterator[Sample]:
    """All of them, as samples of the kit."""
    for number, (name, inputs, attributes, constants) in enumerate(CASES):
        yield Sample(
            op=f"signal.{name}", kind=f"{number}", inputs=tuple(inputs), attributes=attributes, constants=constants
        )
