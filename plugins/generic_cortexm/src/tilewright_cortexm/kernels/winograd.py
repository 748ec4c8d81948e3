"""Knows Winograd's convolutions of 3x3 in integers: transforms without fractions, and when their results are exact.
Does not know instructions, nor how anything is packed.

F(m x m, 3 x 3) computes m x m results from (m + 2)**2 products for each channel. Rows of its matrices are multiplied by
what makes them whole, so that what comes out is a multiple of each result: 24 times (m = 4) or twice (m = 2) along each
axis, less what rows of the last transform share. All of it is exact modulo 2**32. There, 9 has the inverse
954437177, and what is left is a power of two, a shift: a sum is found where it fits the bits that are left above that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

NINTH = 954437177  # modulo 2**32
MOST = 255  # values are bytes without a sign
KERNEL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """Of one axis. `weights` and `values` give the points, `results` (rows that share no power of two) takes them back;
    row `i` of it gives `odd * 2**shifts[i]` times result `i`.
    """

    side: int  # results of a tile along an axis
    weights: tuple[tuple[int, ...], ...]
    values: tuple[tuple[int, ...], ...]
    results: tuple[tuple[int, ...], ...]
    odd: int
    shifts: tuple[int, ...]

    @property
    def reads(self) -> int:
        """Values, and points, of a tile along an axis."""
        return self.side + KERNEL - 1

    @property
    def points(self) -> int:
        """Products of a tile for each channel."""
        return self.reads**2

    @property
    def inverse(self) -> int:
        """What takes away the odd factor of both axes, modulo 2**32; 1 where there is none."""
        return NINTH if self.odd == KERNEL else 1

    def of_weights(self, weights: Integers) -> Integers:
        """[..., 3, 3] to [..., points, points]: what products are of. They fit 16 bits where weights are bytes."""
        matrix = np.asarray(self.weights, np.int64)
        return np.asarray(matrix @ weights @ matrix.T, np.int64)

    def is_exact(self, weights: Integers) -> bool:
        """Whether every sum of products can be told from what is left modulo 2**32. `weights`: [channels, ...]."""
        flat = weights.reshape(len(weights), -1)
        reach = MOST * max(int(np.maximum(flat, 0).sum(axis=1).max()), int(np.maximum(-flat, 0).sum(axis=1).max()))
        return bool(reach < 2 ** (31 - 2 * max(self.shifts)))


FOUR = Transform(
    side=4,
    weights=((1, 0, 0), (1, 1, 1), (1, -1, 1), (1, 2, 4), (1, -2, 4), (0, 0, 1)),
    values=(
        (4, 0, -5, 0, 1, 0), (0, -4, -4, 1, 1, 0), (0, 4, -4, -1, 1, 0), (0, -2, -1, 2, 1, 0), (0, 2, -1, -2, 1, 0),
        (0, 4, 0, -5, 0, 1),
    ),
    results=((6, -4, -4, 1, 1, 0), (0, -2, 2, 1, -1, 0), (0, -1, -1, 1, 1, 0), (0, -1, 1, 2, -2, 6)),
    odd=3,
    shifts=(3, 2, 1, 1),
)  # fmt: skip

TWO = Transform(
    side=2,
    weights=((1, 0, 0), (1, 1, 1), (1, -1, 1), (0, 0, 1)),
    values=((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),
    results=((2, 1, 1, 0), (0, 1, -1, -2)),
    odd=1,
    shifts=(1, 1),
)
