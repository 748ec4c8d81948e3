"""Knows all operators of this package and their portable kernels. Does not know what they compute."""

from __future__ import annotations

from tilewright_integer_dialect.operators import curves, norms, pairs, quotients, shift, softmax

OPERATORS = (shift.SHIFT, pairs.PAIR, *curves.OPERATORS, *softmax.OPERATORS, *norms.OPERATORS, *quotients.OPERATORS)
KERNELS = (
    shift.SHIFT_PORTABLE,
    pairs.PAIR_PORTABLE,
    *curves.KERNELS,
    *softmax.KERNELS,
    *norms.KERNELS,
    *quotients.KERNELS,
)
