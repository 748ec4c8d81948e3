"""Cycles of strips: what is computed together is cheaper, what is copied at edges dearer."""

from __future__ import annotations

from tilewright.api.kernel import Windows
from tilewright_siracusa.kernels.strip_costs import copying_cycles, strip_cycles

SMALL = Windows(kernel=(3, 3), strides=(1, 1), dilations=(1, 1), before=(1, 1), after=(1, 1))
MOST = (28, 6)


def cycles(rows: int, columns: int, channels: int = 4, *, pair: bool = True) -> float:
    return strip_cycles(SMALL, rows, columns, channels, most=MOST, pair=pair)


def test_whole_strips_add_up() -> None:
    assert cycles(28, 12) == 2 * cycles(28, 6)
    assert cycles(30, 7) == cycles(28, 6) + cycles(2, 6) + cycles(28, 1) + cycles(2, 1)


def test_pairs_and_rows_together_are_cheaper() -> None:
    assert cycles(28, 6) < cycles(28, 6, pair=False)
    assert cycles(28, 6) < 28 * cycles(1, 6)
    assert cycles(28, 6, channels=1) < cycles(28, 6) < 4 * cycles(28, 6, channels=1)


def test_rows_are_copied_once_for_windows_that_share_them() -> None:
    one, many = (copying_cycles(SMALL, high, 9, outside=0.0, joined=True, padded=True) for high in (1, 8))
    assert many < one / 2
    assert copying_cycles(SMALL, 8, 9, outside=0.5, joined=True, padded=True) > many
    assert copying_cycles(SMALL, 8, 9, outside=0.0, joined=False, padded=True) > many
