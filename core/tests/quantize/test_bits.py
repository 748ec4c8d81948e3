"""Bits of one thing change, and of nothing else."""

from __future__ import annotations

from tilewright.quantize.bits import Bits, Choice

VALUE = Choice(kind="value", name="c", layer="conv")
WEIGHTS = Choice(kind="weights", name="w", layer="conv")


def test_what_is_not_named_has_8_bits() -> None:
    assert (Bits().of(VALUE), Bits().of(WEIGHTS)) == (8, 8)
    bits = Bits(wide=frozenset("c"), narrow=frozenset("w"))
    assert (bits.of(VALUE), bits.of(WEIGHTS)) == (16, 4)


def test_more_and_fewer_bits_are_those_of_the_kind() -> None:
    other = Bits(wide=frozenset("d"), narrow=frozenset("v"))
    assert other.most(VALUE) == Bits(wide=frozenset("cd"), narrow=other.narrow)
    assert other.fewest(WEIGHTS) == Bits(wide=other.wide, narrow=frozenset("vw"))
    for choice in (VALUE, WEIGHTS):
        assert other.most(choice).fewest(choice) == other.fewest(choice)
        assert other.fewest(choice).most(choice) == other.most(choice)
