"""Knows what an LSTM or a GRU of integers computes, step after step: the reference of QLSTM and QGRU.
Does not know operators, nor how a network's numbers become these.

Every gate has two sums, of products with the input and with the state before. Each is brought to 16 bits, 12 of them
behind the point, and limited there; so is what both are together, and that is what the gate's function is given. With
`*` for a product that is scaled, `sat` for the limits of 16 bits, and functions of `gate_tables`:

    LSTM    i, o, f = sigmoid, g = tanh
            c = sat(sat(f * c) + sat(i * g)), kept between -limit and limit where there is one
            h = limited(o * tanh(c) + zero_point)
    GRU     z, r = sigmoid
            n = tanh(sat(given + (r * inner + 2**14 >> 15))) where the reset stands behind the product, else the
            state's product is of (r * (h - zero_point) + 2**14) >> 15
            c = (z * c + (2**15 - z) * n + 2**14) >> 15
            h = limited(c * 2**-15 / scale + zero_point)

A GRU's c is its state with 15 bits behind the point; it begins with what h is. Values of 8 bits are scaled as `tflm`
does it, rounded twice, and so is every product of two of 16 bits; sums of values of 16 bits are scaled with a
multiplier of 16 bits, rounded once.

Source: TensorFlow Lite Micro, kernels/lstm_eval.h and lstm_eval_common.cc, for the LSTM. It has no GRU: that one's
arithmetic is our own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Node
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.roundings import DoubleRounding, MultiplyShift, fixed_multiplier
from tilewright.operators.recurrent.gate_tables import sigmoid, tanh

Integers = npt.NDArray[np.int64]

HALF, ONE = 1 << 14, 1 << 15
LARGEST_EXPONENT = 15  # of a scale: a larger one would bring every sum to a limit


def words(scale: float, *, wide: bool = False) -> tuple[int, int]:
    """What C multiplies with, and an exponent; where sums are of 64 bits, 16 bits of it and a shift to the right."""
    multiplier, exponent = fixed_multiplier(scale)
    return (min((multiplier + 2**15) >> 16, 2**15 - 1), 15 - exponent) if wide else (multiplier, exponent)


def scaled(value: Integers, scale: float, *, wide: bool = False) -> Integers:
    """A sum or product, brought to another scale."""
    if not wide:
        return DoubleRounding().rounded(value, np.array(scale))
    multiplier, shift = words(scale, wide=True)
    rounding = MultiplyShift(multiplier=(multiplier,), shift=(shift,), bits=64)
    return rounding.rounded(value, np.array(scale))


def limited(value: Integers) -> Integers:
    """In 16 bits."""
    return np.clip(value, *DType.I16.limits)


def numbers(node: Node, name: str) -> tuple[float, ...]:
    """An attribute that has a number for each gate."""
    value = node.attributes[name]
    return tuple(float(each) for each in value) if isinstance(value, tuple) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerCell:
    """One cell with its weights. Sums of both sides are [gates * H]; scales one for each gate."""

    node: Node
    dtype: DType  # of what goes in, and of the hidden state
    weights: Integers  # [gates * H, I]
    bias: Integers
    inner: Integers  # [gates * H, H]
    inner_bias: Integers

    @property
    def hidden(self) -> int:
        """Units."""
        return int(self.inner.shape[1])

    @property
    def zero_point(self) -> int:
        """Of the hidden state."""
        return self.node.integer("zero_point")

    def given(self, x: Integers) -> list[Integers]:
        """What every gate gets from the input [B, I]: [B, H] each."""
        return self._gates(x @ self.weights.T + self.bias, "given_scales")

    def step(self, x: Integers, h: Integers, c: Integers) -> tuple[Integers, Integers]:
        """The next hidden state as it is stored, and the next c."""
        outer = self.given(x)
        return self._lstm(outer, h, c) if self.node.op == "QLSTM" else self._gru(outer, h, c)

    def begun(self, h: Integers) -> Integers:
        """The c of a GRU whose hidden state is h."""
        return limited(scaled(h - self.zero_point, ONE * self.node.number("hidden_scale")))

    def _gates(self, sums: Integers, scales: str) -> list[Integers]:
        parts = np.split(sums, sums.shape[1] // self.hidden, axis=1)
        return [self._gate(part, scales, gate) for gate, part in enumerate(parts)]

    def _gate(self, sums: Integers, scales: str, gate: int) -> Integers:
        return limited(scaled(sums, numbers(self.node, scales)[gate], wide=self.dtype is DType.I16))

    def _inner(self, h: Integers) -> list[Integers]:
        return self._gates(h @ self.inner.T + self.inner_bias, "inner_scales")

    def _stored(self, product: Integers, scale: float) -> Integers:
        return np.clip(scaled(product, scale) + self.zero_point, *self.dtype.limits)

    def _lstm(self, outer: list[Integers], h: Integers, c: Integers) -> tuple[Integers, Integers]:
        i, o, f, g = (limited(own + inner) for own, inner in zip(outer, self._inner(h), strict=True))
        node, power = self.node, self.node.integer("cell_power")
        kept = limited(scaled(sigmoid(f) * c, 1 / ONE))
        written = limited(scaled(sigmoid(i) * tanh(g), node.number("write_scale")))
        limit = node.integer("cell_limit") or ONE
        after = np.clip(limited(kept + written), -limit, limit)
        return self._stored(sigmoid(o) * tanh(after, power), ONE**-2 / node.number("hidden_scale")), after

    def _gru(self, outer: list[Integers], h: Integers, c: Integers) -> tuple[Integers, Integers]:
        inner = self._inner(h)
        z, r = (sigmoid(limited(outer[gate] + inner[gate])) for gate in range(2))
        if self.node.integer("linear_before_reset"):
            inside = (r * inner[2] + HALF) >> 15
        else:
            left = (r * (h - self.zero_point) + HALF) >> 15
            inside = self._gate(left @ self.inner[2 * self.hidden :].T, "inner_scales", 2)
        n = tanh(limited(outer[2] + inside))
        after = (z * c + (ONE - z) * n + HALF) >> 15
        return self._stored(after, 1 / ONE / self.node.number("hidden_scale")), after
