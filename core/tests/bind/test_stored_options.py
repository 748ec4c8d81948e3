"""What a user has decided is kept: kernels with their forms, layouts without any, all of it when it is bound again."""

from __future__ import annotations

from dataclasses import replace

from form_kernels import NEG
from networks_in_forms import DEAR, bound, network, ops


def test_a_pinned_kernel_has_its_forms_and_a_pinned_layout_has_none() -> None:
    dear = replace(NEG, cycles=lambda tile: 2 * DEAR)
    pinned = bound(network("Neg", "Softmax"), dear, kernels={"neg0": "acme.neg16"})
    assert ops(pinned)[:3] == ["ToStored", "Neg@stored", "FromStored"]
    other = bound(network("Neg", "Softmax"), NEG, kernels={"neg0": "portable.neg"})
    assert ops(other)[:1] == ["Neg"]
    laid = bound(network("Neg", "Softmax"), NEG, layouts={"neg0:0": (0, 2, 3, 1)})
    (refused,) = (each.reason for each in laid.bindings["neg0"].refusals if each.candidate == "acme.neg16")
    assert refused == "a layout or memory is pinned for 'neg0:0', which it would store in a form of its own"


def test_what_was_decided_with_forms_is_bound_again() -> None:
    """A file of decisions names kernels and layouts of values in forms."""
    first = bound(network("Neg", "Abs", "Neg", "Softmax"), NEG)
    kernels = {name: each.kernel.name for name, each in first.bindings.items()}
    again = bound(network("Neg", "Abs", "Neg", "Softmax"), NEG, kernels=kernels, layouts=dict(first.layouts))
    assert again.graph.nodes == first.graph.nodes
