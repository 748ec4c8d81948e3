"""One step after the other of LSTM and GRU in integers: against loops over Python's numbers, unit by unit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.recurrent.gate_tables import gate_table
from tilewright.operators.recurrent.integer_recurrent import OPERATORS
from tilewright.testing.integer_recurrences import integer_recurrence
from tilewright.testing.operator_sites import Sample, site_of

BY_NAME = {operator.name: operator for operator in OPERATORS}
TABLE = gate_table().tolist()
SHAPE = (4, 2, 5, 3)


def multiplier(scale: float) -> tuple[int, int]:
    fraction, exponent = math.frexp(scale)
    whole = math.floor(Fraction(fraction) * 2**31 + Fraction(1, 2))
    return (whole // 2, exponent + 1) if whole == 2**31 else (whole, exponent)


def twice(value: int, scale: float) -> int:
    """A product with a scale, rounded at 2**31 and then at the exponent, away from zero."""
    factor, exponent = multiplier(scale)
    high = math.floor(Fraction(value * 2 ** max(exponent, 0) * factor, 2**31) + Fraction(1, 2))
    part = Fraction(abs(high), 2 ** max(-exponent, 0))
    return (-1 if high < 0 else 1) * math.floor(part + Fraction(1, 2))


def once(value: int, scale: float) -> int:
    """The same with 16 bits of the multiplier, halves up."""
    factor, exponent = multiplier(scale)
    cut = min((factor + 2**15) // 2**16, 32767)
    return math.floor(Fraction(value * cut, 2 ** (15 - exponent)) + Fraction(1, 2))


def sat(value: int) -> int:
    return max(-32768, min(32767, value))


def sigmoid(v: int) -> int:
    k, part = divmod(3 * abs(v), 512)
    value = 32767 * 1024 if k >= 255 else TABLE[k] * 512 + part * (TABLE[k + 1] - TABLE[k])
    return (value + 512) // 1024 if v >= 0 else (2**25 - value + 511) // 1024


def tanh(v: int, power: int = -12) -> int:
    n = 12 + power
    at = 3 * v * 2**n if n >= 0 else (3 * v + 2 ** (-n - 1)) // 2**-n
    k, part = divmod(abs(at), 256)
    value = 65535 * 256 if k >= 255 else TABLE[k] * 256 + part * (TABLE[k + 1] - TABLE[k])
    return (value - 2**23 + 128) // 256 if at >= 0 else (2**23 - value + 127) // 256


class Oracle:
    """One sequence of a layer."""

    def __init__(self, layer: Sample, batch: int) -> None:
        x, self.w, self.r, self.b, rb, _, *states = (None if a is None else a.tolist() for a in layer.inputs)
        self.given = [step[batch] for step in x]
        self.rb = rb or [0] * len(self.b)
        self.node, self.op, self.hidden = dict(layer.attributes), layer.op, len(self.r[0])
        self.wide = layer.inputs[0].dtype == np.int16
        self.limits = (-32768, 32767) if self.wide else (-128, 127)
        self.zero = self.node["zero_point"]
        self.h = states[0][batch] if states else [self.zero] * self.hidden
        self.c = states[1][batch] if len(states) > 1 else [0] * self.hidden
        if self.op == "QGRU":
            self.c = [sat(twice(h - self.zero, 2**15 * self.node["hidden_scale"])) for h in self.h]

    def gate(self, side: str, gate: int, unit: int, values: list[int], bias: list[int] | None) -> int:
        row = gate * self.hidden + unit
        weights = self.w if side == "given_scales" else self.r
        total = (bias[row] if bias else 0) + sum(a * b for a, b in zip(weights[row], values, strict=True))
        return sat((once if self.wide else twice)(total, self.node[side][gate]))

    def stored(self, value: int, scale: float) -> int:
        return max(self.limits[0], min(self.limits[1], twice(value, scale) + self.zero))

    def step(self, x: list[int]) -> None:
        own = [[self.gate("given_scales", g, j, x, self.b) for j in range(self.hidden)] for g in range(self.gates)]
        inner = [
            [self.gate("inner_scales", g, j, self.h, self.rb) for j in range(self.hidden)] for g in range(self.gates)
        ]
        both = [[sat(a + b) for a, b in zip(*pair, strict=True)] for pair in zip(own, inner, strict=True)]
        units = range(self.hidden)
        if self.op == "QLSTM":
            for j in units:
                kept = sat(twice(sigmoid(both[2][j]) * self.c[j], 2**-15))
                written = sat(twice(sigmoid(both[0][j]) * tanh(both[3][j]), self.node["write_scale"]))
                limit = self.node["cell_limit"] or 10**9
                self.c[j] = max(-limit, min(limit, sat(kept + written)))
            out = [sigmoid(both[1][j]) * tanh(self.c[j], self.node["cell_power"]) for j in units]
            self.h = [self.stored(value, 2**-30 / self.node["hidden_scale"]) for value in out]
            return
        reset = [sigmoid(both[1][j]) for j in units]
        if self.node["linear_before_reset"]:
            inside = [(reset[j] * inner[2][j] + 2**14) // 2**15 for j in units]
        else:
            left = [(reset[k] * (self.h[k] - self.zero) + 2**14) // 2**15 for k in units]
            inside = [self.gate("inner_scales", 2, j, left, None) for j in units]
        for j in units:
            z, n = sigmoid(both[0][j]), tanh(sat(own[2][j] + inside[j]))
            self.c[j] = (z * self.c[j] + (2**15 - z) * n + 2**14) // 2**15
        self.h = [self.stored(self.c[j], 2**-15 / self.node["hidden_scale"]) for j in units]

    @property
    def gates(self) -> int:
        return 4 if self.op == "QLSTM" else 3

    def run(self) -> list[list[int]]:
        order = range(len(self.given))
        found: list[list[int]] = [[] for _ in order]
        for at in reversed(order) if self.node["reverse"] else order:
            self.step(self.given[at])
            found[at] = self.h
        return found


CHANGES: list[dict[str, Attribute]] = [{}, {"linear_before_reset": 1}]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dtype", [DType.I8, DType.I16])
@pytest.mark.parametrize("op", BY_NAME)
def test_the_reference_is_a_loop_over_units(op: str, dtype: DType, seed: int) -> None:
    numbers = np.random.default_rng(seed)
    changes = {} if op == "QLSTM" else CHANGES[seed % 2]
    layer = integer_recurrence(numbers, op, optional=seed > 1, dtype=dtype, shape=SHAPE, **changes)
    site = site_of(BY_NAME[op], layer.inputs, layer.attributes, layer.constants)
    last, *cell, every = BY_NAME[op].reference(site, layer.inputs)
    for batch in range(SHAPE[1]):
        oracle = Oracle(layer, batch)
        assert every[:, batch].tolist() == oracle.run()
        assert last[batch].tolist() == oracle.h
        assert all(array[batch].tolist() == oracle.c for array in cell)
