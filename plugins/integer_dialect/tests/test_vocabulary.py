"""Operators and kernels: each operator has one kernel for every target, under a name that nobody else has."""

from __future__ import annotations

from tilewright_integer_dialect.vocabulary import KERNELS, OPERATORS


def test_every_operator_has_a_portable_kernel() -> None:
    names = [operator.name for operator in OPERATORS]
    assert sorted(kernel.op for kernel in KERNELS) == sorted(names) and len(set(names)) == len(names)
    assert all(name.startswith("integer.") for name in (*names, *(kernel.name for kernel in KERNELS)))
    assert all(operator.summary for operator in OPERATORS)
    assert [operator.name for operator in OPERATORS if not operator.imports] == ["integer.PairSum"]  # a pass makes it
