"""Forms are chosen by what kernels and conversions take together, and given up where memory is short."""

from __future__ import annotations

from dataclasses import replace

from form_kernels import NEG
from networks_in_forms import DEAR, bound, network, ops


def test_what_conversions_take_is_weighed() -> None:
    """A layer that saves less than two conversions of a value take is computed as the network has it."""
    barely = replace(NEG, cycles=lambda tile: DEAR - 100)
    alone = bound(network("Neg"), barely)
    assert ops(alone) == ["Neg"]
    (refused,) = (each.reason for each in alone.bindings["neg0"].refusals if each.candidate == "acme.neg16")
    assert refused.startswith("stores X in axis 1 in groups of 16, Y in axis 1 in groups of 16; with conversions ")
    assert not [note for note in alone.diagnostics if note.code == "TW5081"]
    assert ops(bound(network(*["Neg"] * 12), barely)) == ["ToStored", *["Neg@stored"] * 12, "FromStored"]


def test_where_memory_is_short_values_are_as_the_network_has_them() -> None:
    found = bound(network("Neg"), NEG, fit=False)
    assert ops(found) == ["Neg"]
    (refused,) = (each.reason for each in found.bindings["neg0"].refusals if each.candidate == "acme.neg16")
    assert refused == "memory is short: with values in forms of its own, no plan fits (TW5082)"
