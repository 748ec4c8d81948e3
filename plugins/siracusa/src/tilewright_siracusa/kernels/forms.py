"""Knows in what form windows and weights of a convolution or fully connected layer are read: windows where they are or
copied to columns, values of 8 bits or of 16, weights of 8 bits or of 4. Does not know what that costs, nor how it is
called.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.api import align_up
from tilewright_siracusa.kernels.layers import BLOCK, ProductLayer

WORD = 4
STRIP_BYTES = 256  # of what windows of a column read, where one needs no more
MOST_RUNS = 25  # of a window: where they begin is on the stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A layer, and how its windows are read."""

    layer: ProductLayer
    direct: bool  # where they are
    tap_bytes: int
    taps: tuple[int, int]
    column_bytes: int  # of a window, a multiple of four
    joined: bool  # taps of a row are neighbours
    runs: int  # of a window, at most
    nibbles: bool  # whether weights have 4 bits, see `nibbles`
    value_bytes: int  # 1, or 2 (see `words`)

    @property
    def shared(self) -> bool:
        """Whether weights of two channels are stored as one number, and their sums have to come apart."""
        return self.nibbles or self.value_bytes > 1

    @property
    def weight_bytes(self) -> int:
        """Of a block's weights for a word of values."""
        return BLOCK * WORD // 2 if self.shared else BLOCK * WORD

    @property
    def run_bytes(self) -> int:
        """Of a window, in one row."""
        return self.taps[1] * self.tap_bytes

    @property
    def pitch_bytes(self) -> int:
        """From one row of a strip to the next: words are read in one cycle where windows begin with one."""
        return align_up(self.run_bytes, WORD) if self.taps[0] == 1 else self.run_bytes

    @property
    def strip_windows(self) -> int:
        """How many windows of a column are copied together, at most; rows that are apart are theirs alone."""
        windows = self.layer.windows
        rows, stride = STRIP_BYTES // self.pitch_bytes - self.taps[0], windows.strides[0]
        return 1 if rows < 0 or windows.dilations[0] != 1 or stride > self.taps[0] else rows // stride + 1

    def strip_bytes(self, windows: int) -> int:
        """Of so many windows of a column, and what is read behind the last."""
        rows = (windows - 1) * self.layer.windows.strides[0] + self.taps[0]
        return align_up(rows * self.pitch_bytes, WORD) + WORD


def form_of(layer: ProductLayer, *, nibbles: bool = False, value_bytes: int = 1) -> Form:
    """The form of a layer."""
    _, rows, columns, inputs = layer.weights.shape
    tap_bytes = value_bytes * inputs
    joined = layer.windows.dilations[1] == 1 or columns == 1
    runs = rows * columns if layer.padded or not joined else rows
    return Form(
        layer=layer,
        direct=tap_bytes % WORD == 0 and runs <= MOST_RUNS,
        runs=runs,
        tap_bytes=tap_bytes,
        taps=(rows, columns),
        column_bytes=align_up(rows * columns * tap_bytes, WORD),
        joined=joined,
        nibbles=nibbles,
        value_bytes=value_bytes,
    )
